#include "tools/tutti/doctor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/format.h"
#include "real/process/module.h"
#include "tools/tutti/io/memory_limit.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/report/table.h"
#include "tools/tutti/view.h"

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;
using core::Report;

/// The result of one check.
struct Finding {
  std::string name;
  bool ok = true;
  std::string found;
  std::string remedy = {};  ///< how to install the missing component; empty if nothing is missing
};

Finding cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  return {"cores", usable > 0, fmt::format("{}", usable)};
}

Finding memory() {
  const auto free = free_memory();
  if (!free) return {"memory", true, "not reported by the system"};
  return {"memory", *free > (std::uint64_t{1} << 30),
          show(core::Bytes(static_cast<std::int64_t>(*free))) + " free",
          *free > (std::uint64_t{1} << 30) ? ""
                                           : "less than 1 GiB is free; real runs store every "
                                             "gradient twice, so large models need more"};
}

/// Checks /dev/shm, where NCCL's processes share memory. (Workers of `--transport shm` share memory
/// that needs no file system.)
Finding shared_memory() {
  struct statvfs found {};
  if (::statvfs("/dev/shm", &found) != 0)
    return {"/dev/shm", false, "not mounted",
            "NCCL (--backend nccl) needs /dev/shm; mount a tmpfs there"};
  const auto bytes = static_cast<std::int64_t>(found.f_bavail * found.f_frsize);
  const bool enough = bytes >= (std::int64_t{256} << 20);
  return {
      "/dev/shm", enough, show(core::Bytes(bytes)) + " free",
      enough
          ? ""
          : "this may be too little for NCCL (--backend nccl); start containers, which have 64 MB "
            "by default, with docker run --shm-size=1g"};
}

/// Checks loopback, which connects the processes of real runs on this machine.
Finding loopback() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound =
      listener >= 0 &&
      ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(listener, 1) == 0;
  if (listener >= 0) ::close(listener);
  return {"ports", bound,
          bound ? "a process can listen on 127.0.0.1" : "no process can listen on 127.0.0.1",
          bound ? "" : "bring the loopback interface up: ip link set lo up"};
}

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

Finding gpus() {
  std::error_code status;
  std::size_t devices = 0;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", status)) {
    static_cast<void>(entry);
    ++devices;
  }
  const auto driver = first_line("/proc/driver/nvidia/version");
  if (devices == 0)
    return {"GPUs", false, "none",
            "--backend cuda and nccl need an NVIDIA GPU with its driver; all other commands and "
            "backends work without a GPU"};
  return {"GPUs", true, fmt::format("{}, {}", devices, driver.value_or("unknown driver"))};
}

/// Checks whether a module of Tutti that is loaded at run time has been built.
Finding loadable(const char* name, const char* library, const char* remedy) {
  std::error_code status;
  const bool there = fs::exists(real::module_folder() + "/lib" + library + ".so", status);
  return {name, there, there ? "built" : "not built", there ? "" : remedy};
}

Finding window() {
  std::error_code status;
  const bool there = fs::exists(window_program(), status);
  return {"window", there, there ? "built" : "not built",
          there ? ""
                : "run tools/install_packages.sh window and build again, or install the package "
                  "tutti-window"};
}

Finding data(const core::Library& library) {
  const auto machines = library.names(core::Library::Kind::kMachine);
  return {"shipped data", !machines.empty(),
          fmt::format("{} machines in {}", machines.size(), library.folder()),
          machines.empty() ? "set TUTTI_DATA to the path of Tutti's folder scenarios, which "
                             "contains the shipped files"
                           : ""};
}

std::vector<Finding> findings(const core::Library& library) {
  return {cores(),
          memory(),
          shared_memory(),
          loopback(),
          data(library),
          gpus(),
          loadable("CUDA module", "tutti_cuda",
                   "build with the CUDA toolkit (docs/running-on-gpus.md)"),
          loadable("NCCL module", "tutti_nccl", "build with the CUDA toolkit and NCCL"),
          window()};
}

}  // namespace

std::string features() {
  std::vector<std::string> parts;
  for (const Finding& one : {window(), loadable("CUDA module", "tutti_cuda", ""),
                             loadable("NCCL module", "tutti_nccl", "")}) {
    if (one.ok) parts.push_back(one.name);
  }
  return parts.empty() ? "without window and GPU modules"
                       : fmt::format("with {}", fmt::join(parts, ", "));
}

int doctor(const DoctorOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  const std::vector<Finding> found = findings(environment.library);
  if (*format == Format::kJson) {
    return print_out(result_json(Report{{"checks", core::list_of(found, [](const Finding& one) {
                                           return Report{
                                               {"name", one.name},
                                               {"ok", one.ok},
                                               {"found", one.found},
                                               {"remedy", core::unless_empty(one.remedy)}};
                                         })}}));
  }
  Table table({"<", "<", "<", "<"});
  for (const Finding& one : found)
    table.row({one.name, one.ok ? "ok" : "missing", one.found, one.remedy});
  std::string text = table.text(0);
  text.erase(0, text.find('\n') + 1);  // remove the headings
  return print_report(text);
}

}  // namespace tutti::tools
