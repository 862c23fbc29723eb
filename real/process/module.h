#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::real {

/// Returns the folder of the modules: the environment variable TUTTI_MODULES, or ../lib/tutti
/// relative to the program's folder.
std::string module_folder();

/// Loads `lib<name>.so` from module_folder() and returns its symbol `entry`. The library stays
/// loaded until the process ends, since GPU libraries do not support unloading. `what` describes
/// the user's request; error messages begin with this text. `made_with` names the software that is
/// needed to build the module; error messages contain this name.
/// ERRORS (kRequest, about --backend): the file does not exist, cannot be loaded (for example,
/// because a required library is missing), or has no symbol `entry`.
core::Expected<void*> load_module(const std::string& name, const char* entry,
                                  const std::string& what, const std::string& made_with);

/// Loads a module and returns its function table. ERRORS: the errors of load_module(); the version
/// of the table differs from the version that this program needs.
template <class Api, class Entry>
core::Expected<const Api*> load_api(const std::string& name, const char* entry,
                                    std::uint32_t interface_number, const std::string& what,
                                    const std::string& made_with) {
  const auto symbol = load_module(name, entry, what, made_with);
  if (!symbol) return tl::make_unexpected(symbol.error());
  const Api* const api = reinterpret_cast<Entry>(*symbol)();
  if (api && api->interface_number == interface_number && api->size == sizeof(Api)) return api;
  return tl::make_unexpected(core::Error::request(
      {core::ProblemCode::kConflict, "--backend"},
      fmt::format("{}: {}/lib{}.so is from another version of Tutti (interface {} instead of {}); "
                  "build the program and the module together",
                  what, module_folder(), name, api ? api->interface_number : 0, interface_number)));
}

}  // namespace tutti::real
