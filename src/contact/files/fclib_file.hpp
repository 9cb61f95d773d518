// Reads FCLIB's local problems: u = W r + q, garra's a = A c + b.
#pragma once

#include "base/files/hdf5.hpp"
#include "garra/contact.hpp"

namespace garra::io {

/// Whether the file holds an FCLIB problem, of any kind.
[[nodiscard]] bool is_fclib(const Hdf5Reader& file);

/// The one problem of a local FCLIB file. Throws Error(kInvalidFile).
[[nodiscard]] contact::Problems read_fclib_local(const Hdf5Reader& file);

/// Throws Error(kInvalidFile) if `dataset` describes more contacts than contact::kMaxContacts, or none.
void require_supported_contacts(const Hdf5Reader& file, const std::string& dataset, std::int64_t contacts);

}  // namespace garra::io
