// Contacts of which more stand for fewer, so that code for `many` takes `contacts` of them: contact j is the given one
// j % contacts, and the copies of one share its limit. Together they can do what it can.
#pragma once

namespace garra::contact {

/// How many of `many` contacts stand for the same one as contact j.
[[nodiscard]] constexpr int copies_of(int j, int contacts, int many) {
  return (many - 1 - j % contacts) / contacts + 1;
}

}  // namespace garra::contact
