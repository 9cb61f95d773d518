// Replaces `contacts` contacts by more, so that code for `many` contacts applies: contact j is a copy of contact j %
// contacts. The copies of a contact share its force limit, so together they can exert the same forces.
#pragma once

namespace garra::contact {

/// Number of the `many` contacts that are copies of the same contact as contact j.
[[nodiscard]] constexpr int count_copies(int j, int contacts, int many) {
  return (many - 1 - j % contacts) / contacts + 1;
}

}  // namespace garra::contact
