#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::real {

/// The folder of the modules: TUTTI_MODULES, or ../lib/tutti beside the program's own.
std::string module_folder();

/// Loads `lib<name>.so` from module_folder() and answers its symbol `entry`. What is loaded stays for the rest of the
/// process: GPU libraries do not survive being unloaded.
/// ERRORS (kRequest): the file is not there, cannot be loaded (a library that it needs is missing), is no such module.
/// All are about --backend. `what` is what the user asked for, and begins the text; `made_with` is what has to be installed to build the module.
core::Expected<void*> load_module(const std::string& name, const char* entry, const std::string& what,
                                  const std::string& made_with);

/// The table of plain C functions that the module answers, of the interface that this program was built with.
/// ERRORS: as above; the table is another version's.
template <class Api, class Entry>
core::Expected<const Api*> load_api(const std::string& name, const char* entry, std::uint32_t interface_number,
                                    const std::string& what, const std::string& made_with) {
  const auto symbol = load_module(name, entry, what, made_with);
  if (!symbol) return tl::make_unexpected(symbol.error());
  const Api* const api = reinterpret_cast<Entry>(*symbol)();
  if (api && api->interface_number == interface_number && api->size == sizeof(Api)) return api;
  return tl::make_unexpected(core::Error::request(
      {core::ProblemCode::kConflict, "--backend"},
      fmt::format("{}: {}/lib{}.so is of another version of Tutti (interface {}, not {}); build both together", what,
                  module_folder(), name, api ? api->interface_number : 0, interface_number)));
}

}  // namespace tutti::real
