#include "gui/executors.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/explore/default_axes.h"
#include "core/explore/tuner.h"
#include "core/scenario/library_folder.h"
#include "real/coordinator/tcp_executor.h"
#include "real/cuda/cuda_devices.h"
#include "real/nccl/nccl_collectives.h"
#include "sim/simulator.h"
#include "sim/sweep/evaluator.h"
#include "sim/sweep/execute_points.h"
#include "sim/sweep/trials.h"
#include "tools/tutti/init.h"
#include "tools/tutti/time_scale.h"

namespace tutti::gui {

namespace fs = std::filesystem;

namespace {

std::string no_worker_program(const std::string& program) {
  if (::access(program.c_str(), X_OK) == 0) return "";
  return "the tutti command, which a real run starts once per worker, was not found at " + program +
         "; install or build the command and the window together";
}

std::string no_gpus() {
  const auto count = real::CudaDevices::load().and_then(
      [](const TuttiCudaApi* api) { return real::CudaDevices::count(*api); });
  if (!count) return count.error().message();
  return *count > 0 ? "" : "this machine has no GPU";
}

std::string no_nccl() {
  const auto api = real::NcclCollectives::load();
  return api ? no_gpus() : api.error().message();
}

Backend for_real(std::string id, std::string name, const real::TcpExecutorOptions& options,
                 std::string (*missing)() = nullptr) {
  Backend backend{
      std::move(id), std::move(name), options.time_scale ? "emulating" : "running", {}, {}};
  backend.missing = [program = options.program, missing] {
    const std::string why = no_worker_program(program);
    return why.empty() && missing ? missing() : why;
  };
  backend.make = [options] { return std::make_unique<real::TcpExecutor>(options); };
  return backend;
}

/// Returns the number of threads for a sweep: the number of cores minus one, since the window needs
/// a core.
int threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1); }

core::Expected<bool> search(core::SweepStore& store, const SweepOrder& order,
                            const core::Library& library, const std::vector<core::Override>& set,
                            const SweepWatch& watch) {
  sim::Simulator simulator;
  sim::Evaluator evaluator({order.info.scenario_text, order.info.scenario_file, set}, library,
                           simulator);
  sim::Trials trials(
      store.space(), evaluator, threads(), [&] { return watch.cancel->load(); }, &store);
  if (const auto taken = trials.take_over(library); !taken)
    return tl::make_unexpected(taken.error());
  core::Tuner tuner(store.space(), {order.evaluations, 0, core::TunerOptions().enough, 0});
  const auto most = static_cast<double>(std::min(order.evaluations, store.space().size()));
  return trials.search(tuner, core::kNever, [&](std::int64_t evaluated) {
    watch.progress(static_cast<double>(evaluated) / most);
  });
}

core::Expected<bool> run_sweep(SweepOrder order, const core::Library& library,
                               const SweepWatch& watch) {
  std::vector<core::Override> set;
  for (const std::string& said : order.info.set) {
    auto change = core::parse_override("--set", said);
    if (!change) return tl::make_unexpected(change.error());
    set.push_back(std::move(*change));
  }
  // Report a problem of the scenario once, instead of once per point.
  const auto scenario =
      core::read_scenario(order.info.scenario_text, order.info.scenario_file, library, set);
  if (!scenario) return tl::make_unexpected(scenario.error());
  if (order.info.axes.empty()) {
    auto usual = core::default_axes(*scenario);
    if (!usual) return tl::make_unexpected(usual.error());
    order.info.axes = std::move(*usual);
  }
  auto store = core::SweepStore::resume(order.file, order.info);
  if (!store) return tl::make_unexpected(store.error());
  watch.begun();
  if (order.search) return search(*store, order, library, set, watch);
  sim::Simulator simulator;
  sim::SweepControl course;
  course.threads = threads();
  course.stop = [&] { return watch.cancel->load(); };
  course.progress = [&](std::int64_t there, std::int64_t in_all, std::int64_t before) {
    if (in_all > before)
      watch.progress(static_cast<double>(there - before) / static_cast<double>(in_all - before));
  };
  return sim::execute_points(*store, library, set, simulator, course);
}

}  // namespace

std::string own_worker_program() {
  std::error_code none;
  return (fs::read_symlink("/proc/self/exe", none).parent_path() / "tutti").string();
}

Executors make_executors(const std::string& worker_program) {
  Executors made{core::Library(core::library_folder()), {}, {}};
  made.sweep = run_sweep;
  made.new_scenario = tools::scenario_to_start_from({}, made.library);
  made.backends.push_back({"simulate", "Simulate", "simulating", {}, [] {
                             return std::make_unique<sim::Simulator>();
                           }});
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
