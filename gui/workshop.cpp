#include "gui/workshop.h"

#include <unistd.h>

#include <filesystem>

#include "core/scenario/library_folder.h"
#include "real/cuda/cuda_devices.h"
#include "real/nccl/nccl_collectives.h"
#include "real/tcp_executor.h"
#include "sim/simulator.h"
#include "tools/tutti/init.h"
#include "tools/tutti/time_scale.h"

namespace tutti::gui {

namespace fs = std::filesystem;

namespace {

std::string no_worker_program(const std::string& program) {
  if (::access(program.c_str(), X_OK) == 0) return "";
  return "workers are processes of the tutti command, which should be at " + program +
         "; install or build both together";
}

std::string no_gpus() {
  const auto count =
      real::CudaDevices::load().and_then([](const TuttiCudaApi* api) { return real::CudaDevices::count(*api); });
  if (!count) return count.error().message();
  return *count > 0 ? "" : "there is no GPU on this machine";
}

std::string no_nccl() {
  const auto api = real::NcclCollectives::load();
  return api ? no_gpus() : api.error().message();
}

Backend for_real(std::string id, std::string name, const real::TcpExecutorOptions& options,
                 std::string (*missing)() = nullptr) {
  Backend backend{std::move(id), std::move(name), options.time_scale ? "emulating" : "running", {}, {}};
  backend.missing = [program = options.program, missing] {
    const std::string why = no_worker_program(program);
    return why.empty() && missing ? missing() : why;
  };
  backend.make = [options] { return std::make_unique<real::TcpExecutor>(options); };
  return backend;
}

}  // namespace

std::string own_worker_program() {
  std::error_code none;
  return (fs::read_symlink("/proc/self/exe", none).parent_path() / "tutti").string();
}

Workshop make_workshop(const std::string& worker_program) {
  Workshop made{core::Library(core::library_folder()), {}, {}};
  made.new_scenario = tools::scenario_to_start_from({}, made.library);
  made.backends.push_back(
      {"simulate", "Simulate", "simulating", {}, [] { return std::make_unique<sim::Simulator>(); }});
  real::TcpExecutorOptions options;
  options.program = worker_program;
  made.backends.push_back(for_real("tcp", "Real: TCP", options));
  real::TcpExecutorOptions shm = options;
  shm.transport = "shm";
  made.backends.push_back(for_real("shm", "Real: shared memory", shm));
  real::TcpExecutorOptions emulated = options;
  emulated.time_scale = tools::time_scale_for;
  made.backends.push_back(for_real("emulate", "Real: emulated links and devices", emulated));
  real::TcpExecutorOptions cuda = options;
  cuda.backend = real::Backend::kCuda;
  made.backends.push_back(for_real("cuda", "Real: CUDA", cuda, no_gpus));
  real::TcpExecutorOptions nccl = options;
  nccl.backend = real::Backend::kNccl;
  made.backends.push_back(for_real("nccl", "Real: NCCL", nccl, no_nccl));
  return made;
}

}  // namespace tutti::gui
