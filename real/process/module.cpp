#include "real/process/module.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace tutti::real {

using core::Error;

std::string module_folder() {
  if (const char* folder = std::getenv("TUTTI_MODULES"); folder && *folder) return folder;
  std::error_code status;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", status);
  return (program.parent_path().parent_path() / "lib" / "tutti").string();
}

core::Expected<void*> load_module(const std::string& name, const char* entry,
                                  const std::string& what, const std::string& made_with) {
  const std::string file = fmt::format("{}/lib{}.so", module_folder(), name);
  std::error_code status;
  if (!std::filesystem::exists(file, status)) {
    return tl::make_unexpected(Error::request(
        {core::ProblemCode::kMissing, "--backend"},
        fmt::format("{}: the module {} does not exist; build Tutti on a machine with {} (cmake "
                    "prints what it found), or set TUTTI_MODULES to the folder of the module",
                    what, file, made_with)));
  }
  // Symbols of the module stay local, since the module may be built with other libraries than the
  // program.
  void* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) {
    const char* const why = ::dlerror();
    return tl::make_unexpected(Error::request(
        {core::ProblemCode::kInvalid, "--backend"},
        fmt::format("{}: the module cannot be loaded: {}; install its dependencies on this machine",
                    what, why ? why : file)));
  }
  void* const symbol = ::dlsym(module, entry);
  if (symbol) return symbol;
  return tl::make_unexpected(Error::request(
      {core::ProblemCode::kWrongType, "--backend"},
      fmt::format("{}: {} is not a module of Tutti (it does not export {})", what, file, entry)));
}

}  // namespace tutti::real
