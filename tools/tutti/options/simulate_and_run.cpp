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
      ->check(seed_problem);
  c->add_option("--network-model", o.network_model,
                "Network model: fifo (a link serves one message after the other), fair (messages "
                "share the bandwidth of a link) or ideal (only the ports of devices limit "
                "messages); overrides the scenario");
  c->add_option(
      "--interference", o.interference,
      "Slowdown of computation by communication: auto (only on GPUs whose number of "
      "multiprocessors is known), on (on all devices that compute) or off (on no device); "
      "overrides the scenario");
  c->add_option(
      "--nccl", o.nccl,
      "How to simulate the algorithm nccl: calibrated (predict the algorithm and protocol that "
      "NCCL chooses, and the time by a model that is fitted to measurements) or rings (simulate "
      "every message of rings over NCCL's channels); overrides the scenario. For machines whose "
      "NCCL times Tutti cannot predict, rings is always used");
  c->add_option("--fold", o.fold,
                "Simulate one worker on behalf of all workers if they are identical, which does "
                "not change the results. Values: auto (only for long runs), on (fail if workers "
                "differ) or off (simulate every worker)")
      ->capture_default_str();
  c->add_option("--remember", o.remember,
                "Skip training steps that are identical to the previous step, which does not "
                "change the results. Values: auto (only for long runs without --timeline), on "
                "(also for short runs) or off (simulate all steps)")
      ->capture_default_str();
  c->add_flag(
      "--unproved", o.unproved,
      "Simulate an algorithm file even if the algorithm computes wrong results. With --timeline, "
      "the topology view of tutti view then shows which ranks' data each device holds");
}

void add_run(CLI::App& app, RealRunOptions& o) {
  CLI::App* c = app.add_subcommand(
      "run", "Execute a scenario on real hardware (CPUs or GPUs), with one process per worker");
  c->footer(
      "By default, workers are processes of this machine.\n"
      "Workers on other machines join with --listen, TF_CONFIG, mpirun, srun or torchrun "
      "(docs/running.md).\n"
      "Computations are not executed, but replaced by delays of the same length.\nEvery element of "
      "every result is verified.\n"
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
  c->add_option("--ranks", o.scenario.ranks,
                "Reduce the number of workers so that the run has this number of ranks (replicas), "
                "for example because the memory of this computer is too small for all workers. The "
                "number must be a multiple of the ranks of one worker")
      ->excludes("--tf-config");
  c->add_option("--backend", o.backend,
                "Backend: tcp (host memory), cuda (GPUs, with Tutti's kernels) or nccl (GPUs, with "
                "NCCL's collectives)")
      ->capture_default_str();
  c->add_option("--compute", o.compute,
                "Replacement for computations on CPUs, which takes the same time: sleep (a thread "
                "sleeps) or busy (a thread keeps a core busy)")
      ->capture_default_str();
  c->add_flag("--emulate", o.emulate,
              "Emulate the bandwidths and latencies of the scenario's links and devices. Emulated "
              "time runs slower than real time if this machine cannot keep up (see --time-scale)");
  c->add_option("--time-scale", o.time_scale,
                "With --emulate: number of real seconds that one emulated second takes (default: "
                "chosen for this machine)");
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
                "Index of this worker in the scenario, from 0 (default: the lowest free index)");
  c->add_option("--listen", o.listen,
                "Address HOST:PORT at which other workers reach this worker (default: the local "
                "address of this worker's connection to the coordinator, and any free port)");
  add_joining(c, o);
  c->add_option("--child-of", o.child_of,
                "Process id of the coordinator that started this worker and reports its errors")
      ->group("");
}

void add_perf(CLI::App& app, PerfOptions& o) {
  CLI::App* c =
      app.add_subcommand("perf",
                         "Print a table like nccl-tests (time, algbw and busbw for each message "
                         "size) with predicted or measured times of a collective");
  c->footer(
      "Collectives that reduce: all_reduce, reduce_scatter, reduce.\n"
      "Other collectives: all_gather, broadcast, alltoall, gather, scatter, sendrecv.\n"
      "The page docs/algorithms.md lists the collectives that each algorithm supports.\n"
      "Sizes are in bytes; the suffixes K, M and G are powers of 1024.\n"
      "Sizes, count and busbw are defined as in nccl-tests.\n"
      "With --cluster, --set NCCL_NAME=VALUE sets an environment variable of NCCL.\n"
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
                "Predict NCCL on a cluster of one kind of machine, without a scenario: name of a "
                "shipped machine, or a machine file");
  c->add_option("--nodes", o.nccl.nodes, "With --cluster: number of machines (nodes)")
      ->capture_default_str();
  c->add_option("-g,--gpus", o.nccl.gpus,
                "With --cluster: number of GPUs used on each node (default: all)");
  c->add_option(
      "--network", o.nccl.network,
      "With --cluster: transport between nodes, one of infiniband, roce, efa (the GPU model "
      "determines the generation), efa_v1, efa_v2, efa_v3, efa_v4, efa_without_rdma, slingshot, "
      "tcpx, tcpxo or tcp (default: the transport of the machine's network card)");
  c->add_option("--cards-per-gpu", o.nccl.cards_per_gpu,
                "With --cluster: number of network cards per GPU: 1/4 (four GPUs share a card), "
                "1/2, 1, 2 or 4 (default: the cards of the machine)");
  c->add_option("--card-gbit-per-s", o.nccl.card_gbit_per_s,
                "With --cards-per-gpu: rate of a card in Gb/s (default: the rate of the machine's "
                "cards)");
  c->add_option("--ofi-plugin", o.nccl.ofi_plugin,
                "With --cluster on EFA: release of the plugin aws-ofi-nccl, such as 1.16.3 "
                "(default: the release that was current when the NCCL release was published)");
  c->add_option(
      "--nccl-version", o.nccl.version,
      "With --cluster: NCCL release to model, such as 2.18.3 (default 2.28.9; oldest 2.6.4)");
  c->add_option("--driving", o.nccl.driving,
                "With --cluster: processes and threads that call NCCL on a node: process_per_gpu "
                "(one process for each GPU; default), thread_per_gpu (nccl-tests -t) or one_thread "
                "(one thread for all GPUs; nccl-tests -g)");
  c->add_option(
       "-t,--nthreads", o.nccl.threads,
       "With --cluster: number of threads of one process on each node, as in nccl-tests. Use -t N "
       "to model N threads with one GPU each, and -t 1 -g N to model one thread with N GPUs")
      ->excludes("--driving");
  c->add_option("--tuner", o.nccl.tuner,
                "With --cluster: tuner plugin that NCCL loads: none (default), aws_ofi (the tables "
                "of aws-ofi-nccl on EC2), or a file with a table, either from tutti tune --emit "
                "nccl-tuner or for NVIDIA's example tuner");
  c->add_option("--instance", o.nccl.instance,
                "With --cluster: EC2 instance type for --tuner aws_ofi, such as p5en.48xlarge "
                "(default: derived from the GPUs if they determine it)");
  c->add_option("--buffers", o.nccl.buffers,
                "With --cluster: buffers of the collective: plain (default), registered "
                "(ncclCommRegister) or symmetric (ncclCommWindowRegister, NCCL 2.27 and later)");
  c->add_option("-R,--local_register", o.nccl.local_register,
                "With --cluster: the same as --buffers, with the values of nccl-tests: 0 (plain), "
                "1 (registered) or 2 (symmetric)")
      ->excludes("--buffers");
  c->add_flag("--explain", o.nccl.explain,
              "With --cluster: print all candidate algorithms with NCCL's estimated times, and the "
              "reason for NCCL's choice");
  c->add_option("--against", o.nccl.against,
                "With --cluster: nccl-tests log (text or JSON) to compare with the prediction");
  c->add_option(
       "--algorithms", o.algorithms,
       "Algorithms to compare, separated by commas: names of built-in or shipped algorithms, nccl, "
       "or algorithm files. The output also contains the lower bound, and the sizes at which the "
       "fastest algorithm changes. With this option, --format csv is also possible")
      ->delimiter(',');
  c->add_option("--backend", o.backend,
                "Backend: sim (predict the times by simulation), or tcp, cuda or nccl (measure the "
                "times with this backend of tutti run)")
      ->capture_default_str();
  c->add_option("--ranks", o.scenario.ranks,
                "Reduce the number of workers so that the collective has this number of ranks "
                "(replicas). The number must be a multiple of the ranks of one worker")
      ->excludes("--tf-config");
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
  CLI::Option* const factor =
      c->add_option("-f,--stepfactor", o.factor, "Factor between consecutive message sizes")
          ->capture_default_str();
  c->add_option("-i,--stepbytes", o.step,
                "Difference between consecutive message sizes, such as 1M (instead of -f)")
      ->excludes(factor);
  c->add_option("-d,--type,--datatype", o.type,
                "Data type of the elements, such as float32; the names of nccl-tests (float, "
                "double, half, bf16) are also accepted")
      ->capture_default_str();
  c->add_option("-o,--op", o.op, "Reduction operation: sum, prod, max, min or avg")
      ->capture_default_str();
  c->add_option(
      "-n,--iters", o.iterations,
      "Number of timed iterations of a real run (default 20); does not change a prediction");
  c->add_option("-w,--warmup_iters", o.warm_up,
                "Number of warm-up iterations before the timed iterations of a real run (default "
                "5); does not change a prediction. Collectives that synchronise all ranks, such as "
                "all_reduce, execute at least 1 warm-up iteration, which replaces a barrier");
  c->add_option("-c,--check", o.check,
                "Check the results, as in nccl-tests (default 1). A real run always checks its "
                "results, before and after the timed iterations, and refuses the value 0. For "
                "predictions, this option has no effect, because they compute no results");
  c->add_option("-z,--blocking", o.blocking,
                "Wait for the end of an iteration before the next one starts, as in nccl-tests. "
                "Only 0 (do not wait; default) is supported");
  add_format(c, o.format);
}

}  // namespace tutti::tools
