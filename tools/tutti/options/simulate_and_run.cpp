// Defines the options of commands that execute a scenario, in virtual time or on real hardware.

#include <CLI/CLI.hpp>

#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

void add_simulate(CLI::App& app, SimulateOptions& o) {
  CLI::App* c = app.add_subcommand(
      "simulate",
      "Predict the step time, the exposed communication and the critical path of a training step");
  c->footer(
      "Examples:\n"
      "  tutti simulate scenarios/06_resnet50_nccl.textproto\n"
      "  tutti simulate mine.textproto --format json | jq .step_time_us\n"
      "  tutti simulate mine.textproto --timeline mine.tutti --workers 0-1");
  add_execution(c, o, "simulate");
  c->add_option("--seed", o.seed,
                "Seed of all random numbers, such as jitter (overrides the scenario)")
      ->check(not_negative);
  c->add_option("--network-model", o.network_model,
                "Network model: fifo, fair or ideal (overrides the scenario)");
  c->add_option(
      "--interference", o.interference,
      "Slowdown of computation by communication: auto (only GPUs whose multiprocessors are known), "
      "on (all devices that compute) or off (no device). Overrides the scenario");
  c->add_option("--nccl", o.nccl,
                "Model of algorithm nccl: calibrated (NCCL's choices with times fitted to "
                "measurements) or rings (messages of rings over NCCL's channels). Machines without "
                "fitted NCCL times always use rings. Overrides the scenario");
  c->add_option("--fold", o.fold,
                "Simulate one worker on behalf of all identical workers, which does not change the "
                "results: auto (unless --timeline records a short run), on (fail if workers "
                "differ) or off (simulate every worker)")
      ->capture_default_str();
  c->add_option("--remember", o.remember,
                "Skip the simulation of training steps that repeat the previous one, which does "
                "not change the results: auto (unless the run is short or --timeline is given), on "
                "(always) or off (simulate all steps)")
      ->capture_default_str();
  c->add_flag("--unproved", o.unproved,
              "Also simulate an algorithm file that is wrong; with --timeline, the window shows "
              "what each device holds");
}

void add_run(CLI::App& app, RealRunOptions& o) {
  CLI::App* c = app.add_subcommand(
      "run", "Execute a scenario for real, with one process per worker (CPUs or GPUs)");
  c->footer(
      "By default, workers are processes of this machine.\n"
      "Workers on other machines join with --listen, TF_CONFIG, mpirun, srun or torchrun "
      "(docs/running.md).\n"
      "Computation is replayed as a delay of the same length.\n"
      "Every element of every result is verified.\n"
      "Examples:\n"
      "  tutti run scenarios/02_eight_hosts_ring.textproto\n"
      "  tutti run mine.textproto --timeline real.tutti\n"
      "  tutti run mine.textproto --emulate\n"
      "  tutti run scenarios/06_resnet50_nccl.textproto --backend nccl\n"
      "  tutti run mine.textproto --listen 10.0.0.1:4711     and on each machine: tutti worker "
      "--join 10.0.0.1:4711\n"
      "  mpirun -n 8 tutti run scenarios/02_eight_hosts_ring.textproto");
  add_real(c, o.real);
  add_execution(c, o, "run");
  c->add_option("--backend", o.backend,
                "Backend: tcp (host memory), cuda (GPUs, with Tutti's kernels) or nccl (GPUs, with "
                "NCCL's collectives)")
      ->capture_default_str();
  c->add_option("--compute", o.compute,
                "Replay of computation on CPUs: sleep (the thread sleeps) or busy (the thread "
                "keeps a core busy)")
      ->capture_default_str();
  c->add_flag("--emulate", o.emulate,
              "Emulate the bandwidths and latencies of the scenario's links and devices, slowed "
              "down as far as this machine requires");
  c->add_option("--time-scale", o.time_scale,
                "Factor by which --emulate slows time down (default: chosen for this machine)");
  c->add_flag("--no-verify", o.no_verify, "Do not verify the results of collectives");
}

void add_worker(CLI::App& app, WorkerOptions& o) {
  CLI::App* c = app.add_subcommand(
      "worker", "Join a real run as one of its workers, on this or another machine");
  c->footer(
      "A worker needs no files: the coordinator sends the scenario.\n"
      "Examples:\n"
      "  tutti worker --join 10.0.0.1:4711\n"
      "  tutti worker --join 10.0.0.1:4711 --worker 3");
  c->add_option("--join", o.join,
                "Address HOST:PORT of the coordinator (required unless a launcher provides it)");
  c->add_option("--worker", o.worker,
                "Number of this worker in the scenario, from 0 (default: the lowest free number)");
  c->add_option("--listen", o.listen,
                "Address HOST:PORT at which other workers reach this worker (default: the address "
                "of its connection to the coordinator, any port)");
  add_joining(c, o);
  c->add_option("--child-of", o.child_of,
                "Process id of the coordinator that started this worker and reports its errors")
      ->group("");
}

void add_perf(CLI::App& app, PerfOptions& o) {
  CLI::App* c = app.add_subcommand("perf",
                                   "Print the table of nccl-tests (time, algbw, busbw per message "
                                   "size) of a collective, predicted or measured");
  c->footer(
      "Collectives that reduce: all_reduce, reduce_scatter, reduce.\n"
      "Other collectives: all_gather, broadcast, alltoall, gather, scatter, sendrecv.\n"
      "The page docs/algorithms.md lists the collectives of each algorithm.\n"
      "Sizes are in bytes; the suffixes K, M and G are powers of 1024.\n"
      "Sizes, count and busbw are defined as in nccl-tests.\n"
      "The workers of a real run join as in tutti run (with --listen, TF_CONFIG, mpirun, srun or "
      "torchrun).\n"
      "Examples:\n"
      "  tutti perf scenarios/06_resnet50_nccl.textproto -b 1K -e 1G -f 4\n"
      "  tutti perf scenarios/06_resnet50_nccl.textproto --collective all_gather\n"
      "  tutti perf scenarios/02_eight_hosts_ring.textproto --backend tcp -e 4M -o avg\n"
      "  tutti perf scenarios/02_eight_hosts_ring.textproto --backend tcp --collective broadcast "
      "-r 3 --place in\n"
      "  mpirun -n 8 tutti perf scenarios/02_eight_hosts_ring.textproto --backend tcp\n"
      "  tutti perf scenarios/algorithms/four_nodes.textproto --algorithms ring,swing,mine.json\n"
      "  tutti perf --cluster hgx-h100 --nodes 2 -b 8 -e 8G\n"
      "  tutti perf --cluster dgx-a100 --nccl-version 2.18.3 --set NCCL_ALGO=Ring --explain -b 1M "
      "-e 1M");
  add_scenario(c, o.scenario, "Scenario whose cluster and strategy are simulated or measured")
      ->required(false);
  c->add_option("--cluster", o.nccl.cluster,
                "Predict NCCL on this machine, without a scenario: name of a shipped machine, or a "
                "machine file");
  c->add_option("--nodes", o.nccl.nodes, "With --cluster: number of machines (nodes)")
      ->capture_default_str();
  c->add_option("-g,--gpus", o.nccl.gpus,
                "With --cluster: number of GPUs used on each node (default: all)");
  c->add_option(
      "--network", o.nccl.network,
      "With --cluster: transport between nodes, one of infiniband, roce, efa, efa_without_rdma, "
      "slingshot, tcpx, tcpxo or tcp (default: the transport of the machine's network card)");
  c->add_option("--nccl-version", o.nccl.version,
                "NCCL release to model, such as 2.18.3 (default 2.28.9; oldest 2.6.4)");
  c->add_option("--driving", o.nccl.driving,
                "Processes and threads that call NCCL on a node: process_per_gpu (default), "
                "thread_per_gpu (nccl-tests -t) or one_thread for all GPUs (nccl-tests -g)");
  c->add_option(
      "--tuner", o.nccl.tuner,
      "Tuner plugin that NCCL loads: none (default), aws_ofi (the tables of aws-ofi-nccl on EC2), "
      "or a table file of tutti tune --emit nccl-tuner or of NVIDIA's example tuner");
  c->add_option("--instance", o.nccl.instance,
                "EC2 instance type for --tuner aws_ofi, such as p5en.48xlarge (default: derived "
                "from the GPUs if they determine it)");
  c->add_option("--buffers", o.nccl.buffers,
                "Buffers of the collective: plain (default), registered (ncclCommRegister) or "
                "symmetric (ncclCommWindowRegister, NCCL 2.27 and later)");
  c->add_flag("--explain", o.nccl.explain,
              "Print all candidate algorithms with NCCL's estimated times, and the reason for "
              "NCCL's choice");
  c->add_option("--against", o.nccl.against,
                "nccl-tests log (text or JSON) to compare with the prediction");
  c->add_option("--algorithms", o.algorithms,
                "Algorithms to compare, separated by commas: names of built-in or shipped "
                "algorithms, nccl, or files; also prints the lower bound and the sizes at which "
                "the fastest algorithm changes; --format csv is also possible")
      ->delimiter(',');
  c->add_option("--backend", o.backend,
                "Backend: sim (simulation), or a backend of tutti run: tcp, cuda or nccl")
      ->capture_default_str();
  add_real(c, o.real);
  c->add_option("--collective", o.collective,
                "Collective operation, such as all_gather (default: the collective of the "
                "scenario, normally all_reduce)");
  c->add_option("-r,--root", o.root,
                "Root rank of broadcast, reduce, gather and scatter (default 0)");
  c->add_option("--place", o.place,
                "Placement of the result: out (out of place), in (in place) or both")
      ->capture_default_str();
  c->add_option("-b,--minbytes", o.least, "Smallest message size, such as 8 or 1K")
      ->capture_default_str();
  c->add_option("-e,--maxbytes", o.most, "Largest message size, such as 8G")->capture_default_str();
  c->add_option("-f,--stepfactor", o.factor, "Factor between consecutive message sizes")
      ->capture_default_str();
  c->add_option("-d,--type,--datatype", o.type,
                "Data type of the elements, such as float32; the aliases float, double, half and "
                "bf16 are accepted")
      ->capture_default_str();
  c->add_option("-o,--op", o.op, "Reduction operation: sum, prod, max, min or avg")
      ->capture_default_str();
  c->add_option("-n,--iters", o.iterations,
                "Number of timed iterations of a real run (default 20)");
  c->add_option("-w,--warmup_iters", o.warm_up,
                "Number of warm-up iterations before the timed iterations (default 5, minimum 1)");
  c->add_option("-c,--check", o.check,
                "Check of the results in a real run: 1 (default); results are checked before and "
                "after the timed iterations, and predictions have no results to check");
  c->add_option("-z,--blocking", o.blocking,
                "Waiting for each iteration before the next one: 0 (default); timed iterations "
                "run back to back");
  add_format(c, o.format);
}

}  // namespace tutti::tools
