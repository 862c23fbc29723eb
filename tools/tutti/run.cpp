#include "tools/tutti/run.h"

#include <sys/prctl.h>

#include <algorithm>

#include "real/coordinator/children.h"
#include "real/coordinator/tcp_executor.h"
#include "real/transport/tcp.h"
#include "real/worker/run_limits.h"
#include "tools/tutti/io/capture.h"
#include "tools/tutti/io/memory_limit.h"
#include "tools/tutti/join.h"
#include "tools/tutti/time_scale.h"

namespace tutti::tools {

using core::Error;
using core::ProblemCode;

core::Expected<real::TcpExecutorOptions> executor_options(const RealOptions& options,
                                                          const std::string& backend) {
  real::TcpExecutorOptions made;
  made.program = capture() ? capture()->program : "/proc/self/exe";
  made.timeout_seconds = options.timeout_seconds.value_or(made.timeout_seconds);
  if (!(made.timeout_seconds > 0 && made.timeout_seconds <= real::kMaxTimeoutSeconds))
    return refused(
        out_of_range("--timeout-seconds", *options.timeout_seconds, real::kMaxTimeoutSeconds),
        "--timeout-seconds must be above 0 and at most {}", real::kMaxTimeoutSeconds);
  if (!options.transport.empty()) made.transport = options.transport;
  if (made.transport != "tcp" && made.transport != "shm")
    return refused({ProblemCode::kUnknownName, "--transport"},
                   "--transport {}: expected tcp or shm", made.transport);
  made.streams = options.streams.value_or(made.streams);
  if (made.streams < 1 || made.streams > real::kMaxStreams)
    return refused(out_of_range("--streams", made.streams, real::kMaxStreams),
                   "--streams {}: expected 1 to {}", made.streams, real::kMaxStreams);
  if (made.streams > 1 && made.transport != "tcp")
    return tl::unexpected(Error::request(
        {ProblemCode::kConflict, "--streams"},
        "--streams applies only to TCP connections; remove --streams, or remove --transport " +
            made.transport));
  made.integrity = options.integrity;
  for (const std::string& written : options.worker_networks) {
    if (!real::parse_subnet(written))
      return refused({ProblemCode::kSyntax, "--worker-network"},
                     "--worker-network {}: expected ADDRESS/BITS, such as 10.1.0.0/16", written);
  }
  const auto parsed =
      choice<real::Backend>("--backend", backend, real::kBackends, real::parse_backend);
  if (!parsed) return failed(parsed);
  made.backend = *parsed;
  for (const auto& [option, given] :
       {std::pair<const char*, bool>{"--integrity", options.integrity},
        {"--tls", !options.join.tls.empty()}}) {
    if (given && made.transport != "tcp")
      return refused({ProblemCode::kConflict, option},
                     "{} protects messages over TCP, but --transport {} moves them through the "
                     "memory of one machine; remove one of the two options",
                     option, made.transport);
    if (given && made.backend == real::Backend::kNccl)
      return refused({ProblemCode::kConflict, option},
                     "{} does not apply to --backend nccl, because NCCL makes its own connections; "
                     "remove this option, or use --backend tcp or cuda",
                     option);
  }
  made.free_memory = [] { return free_memory(); };
  made.warn = [](const std::string& text) { print_note(fmt::format("note: {}\n", text)); };
  return made;
}

real::Gathering gathering_of(const real::Gathering& part, const RealOptions& options,
                             double timeout_seconds) {
  // On a busy machine, processes may need some seconds to start.
  constexpr double kMin = 10, kMax = 60;
  real::Gathering gathering = part;
  if (gathering.spawn == real::Gathering::Spawn::kAll && !options.join.wait_seconds)
    gathering.wait = std::chrono::duration<double>(std::clamp(timeout_seconds, kMin, kMax));
  for (const std::string& written : options.worker_networks) {
    if (const auto network = real::parse_subnet(written))
      gathering.worker_networks.push_back(*network);
  }
  return gathering;
}

int run_for_real(const RealRunOptions& options, const Environment& environment) {
  auto executor_options = tools::executor_options(options.real, options.backend);
  if (!executor_options) return report(executor_options.error());
  if (options.compute != "sleep" && options.compute != "busy")
    return refuse({ProblemCode::kUnknownName, "--compute"}, "--compute {}: expected sleep or busy",
                  options.compute);
  if (options.compute == "busy" && options.emulate)
    return refuse(
        {ProblemCode::kConflict, "--compute"},
        "--compute busy uses cores that --emulate needs for emulated devices; remove --compute");
  if (options.time_scale && !options.emulate)
    return refuse({ProblemCode::kUnused, "--time-scale"},
                  "--time-scale slows an emulated cluster down; add --emulate");
  if (options.time_scale &&
      !(*options.time_scale >= real::kMinTimeScale && *options.time_scale <= real::kMaxTimeScale))
    return refuse(out_of_range("--time-scale", *options.time_scale, real::kMaxTimeScale),
                  "--time-scale must be from {} to {:.0f}", real::kMinTimeScale,
                  real::kMaxTimeScale);
  const real::Backend backend = executor_options->backend;
  if (options.emulate && backend != real::Backend::kTcp)
    return refuse({ProblemCode::kConflict, "--emulate"},
                  "--emulate supports only --backend tcp; remove --backend, or --emulate");
  if (options.compute == "busy" && backend != real::Backend::kTcp)
    return refuse({ProblemCode::kUnused, "--compute"},
                  "--compute busy applies only to CPUs, because the replay on a GPU always keeps "
                  "the GPU busy; remove --compute");
  auto part = own_part(options.real.join);
  if (!part) return report(part.error());
  // The same command line is used on all machines. Only the coordinator uses --listen.
  if (!part->coordinates) return join_run(*part, -1, "", false);
  executor_options->verify = !options.no_verify;
  executor_options->busy = options.compute == "busy";
  executor_options->gathering =
      gathering_of(part->gathering, options.real, executor_options->timeout_seconds);
  if (options.emulate) {
    executor_options->time_scale = [&options](const core::Scenario& scenario) {
      return options.time_scale ? *options.time_scale : time_scale_for(scenario);
    };
  }
  real::TcpExecutor executor(std::move(*executor_options));
  const int status = execute(
      executor, options.emulate ? "emulating" : "running", options, environment,
      [](const core::Scenario& scenario) -> core::Expected<void> {
        const core::RunOptions& run = scenario.run;
        if (run.interference == core::Interference::kOn) {
          return refused({ProblemCode::kUnsupported, "Run.interference"},
                         "run: interference: ON applies only to simulations, because a real run "
                         "has real interference and an emulated run has none; remove this field "
                         "(tutti simulate accepts this field and the option --interference on)");
        }
        if (!run.conditions.any()) return {};
        return refused(
            {ProblemCode::kUnsupported, "Condition"},
            "the field conditions applies only to simulations, because a real run cannot change "
            "the conditions of its machines; remove this field, or use tutti simulate");
      },
      {.writes_as_it_goes = true});
  if (status != kDone)
    executor.refuse_joiners(
        Error::request("the run did not start; see the output of rank 0 for the reason"));
  return status;
}

int worker(const WorkerOptions& options, const Environment&) {
  // This check comes first. Without this check, a worker whose coordinator is gone would wait for a
  // minute.
  if (options.child_of != 0 && !real::end_with_parent(options.child_of)) return kRunFailed;
  if (options.worker >= 0) ::prctl(PR_SET_NAME, fmt::format("tutti w{}", options.worker).c_str());
  if (options.worker < -1)
    return refuse({ProblemCode::kTooSmall, "--worker"}, "--worker must be at least 0");
  if (!options.join.empty() && !options.rendezvous.empty())
    return refuse({ProblemCode::kConflict, "--join"},
                  "--join and --rendezvous both set the coordinator's address; keep one");
  const auto part = own_part(options, options.join);
  if (!part) return report(part.error());
  if (part->coordinates) {
    return report(Error::request(
        {part->launch ? ProblemCode::kConflict : ProblemCode::kMissing, "--join"},
        part->launch
            ? "this is rank 0, which is the coordinator; start tutti run SCENARIO on rank 0"
            : "--join is missing; give the coordinator's address, which tutti run "
              "SCENARIO --listen HOST:PORT prints"));
  }
  if (part->launch && options.worker >= 0)
    return refuse({ProblemCode::kConflict, "--worker"},
                  "--worker {}: {} already sets the worker (rank {}); remove --worker, or give "
                  "--launcher none",
                  options.worker, to_string(part->launch->launcher), part->launch->rank);
  return join_run(*part, options.worker, options.listen, options.child_of != 0);
}

}  // namespace tutti::tools
