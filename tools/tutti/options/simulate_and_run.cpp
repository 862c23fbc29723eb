// Options of the commands that execute a scenario, in virtual time or for real.

#include <CLI/CLI.hpp>

#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

void add_simulate(CLI::App& app, SimulateOptions& o) {
  CLI::App* c = app.add_subcommand("simulate", "Predict a training step: its time, what is exposed, what it waits for");
  c->footer(
      "Examples:\n"
      "  tutti simulate scenarios/06_resnet50_nccl.textproto\n"
      "  tutti simulate mine.textproto --format json | jq .step_time_us\n"
      "  tutti simulate mine.textproto --timeline mine.tutti --workers 0-1");
  add_execution(c, o, "simulate");
  c->add_option("--seed", o.seed, "Seed of the jitter (instead of the scenario's)");
  c->add_option("--network-model", o.network_model, "fifo, fair or ideal (instead of the scenario's)");
  c->add_option(
      "--interference", o.interference,
      "auto: communication slows computation, and the other way about, on GPUs whose multiprocessors are known; "
      "on: on all devices that compute; off: nowhere (instead of the scenario's)");
  c->add_option(
      "--nccl", o.nccl,
      "calibrated: algorithm nccl is NCCL's own choice, with times fitted to measurements, where they know the "
      "machine; rings: rings over its channels, message by message (instead of the scenario's)");
  c->add_option(
       "--fold", o.fold,
       "auto: simulate one worker for all where nothing tells them apart (exactly the same times), but keep all "
       "that --timeline records of runs that do not take long; on: or refuse; off: simulate every worker")
      ->capture_default_str();
  c->add_option("--remember", o.remember,
                "auto: training steps that repeat the one before are told, not simulated again (exactly the same "
                "times), unless the run is short or --timeline is given; on: however short; off: simulate every step")
      ->capture_default_str();
}

void add_run(CLI::App& app, RealRunOptions& o) {
  CLI::App* c = app.add_subcommand("run", "Replay a scenario for real: a process per worker, messages over TCP");
  c->footer(
      "Workers are processes of this machine, or join from others: with --listen, or started together by TF_CONFIG,\n"
      "mpirun, srun or torchrun (docs/running.md). Computation is replayed as time that passes; every element of\n"
      "every result is compared.\n"
      "Examples:\n"
      "  tutti run scenarios/02_eight_hosts_ring.textproto\n"
      "  tutti run mine.textproto --timeline real.tutti\n"
      "  tutti run mine.textproto --emulate\n"
      "  tutti run scenarios/06_resnet50_nccl.textproto --backend nccl\n"
      "  tutti run mine.textproto --listen 10.0.0.1:4711     and on each machine: tutti worker --join 10.0.0.1:4711\n"
      "  mpirun -n 8 tutti run scenarios/02_eight_hosts_ring.textproto");
  add_real(c, o.real);
  add_execution(c, o, "run");
  c->add_option("--backend", o.backend,
                "tcp: in host memory; cuda: on GPUs, with Tutti's kernels; nccl: on GPUs, by NCCL's collectives")
      ->capture_default_str();
  c->add_option("--compute", o.compute,
                "How computation is replayed: sleep lets its time pass, busy keeps a core at it")
      ->capture_default_str();
  c->add_flag("--emulate", o.emulate, "At the pace of the scenario's links and devices, slowed down as far as need be");
  c->add_option("--time-scale", o.time_scale, "How many times slower to emulate (default: chosen for this machine)");
  c->add_flag("--no-verify", o.no_verify, "Do not compare results");
}

void add_worker(CLI::App& app, WorkerOptions& o) {
  CLI::App* c = app.add_subcommand("worker", "One worker of a run that tutti run coordinates, here or elsewhere");
  c->footer(
      "Needs no files: the plan comes from the coordinator.\n"
      "Examples:\n"
      "  tutti worker --join 10.0.0.1:4711\n"
      "  tutti worker --join 10.0.0.1:4711 --worker 3");
  c->add_option("--join", o.join, "The coordinator's HOST:PORT (needed unless a launcher says it)");
  c->add_option("--worker", o.worker, "Which worker this is (default: the lowest that is missing)");
  c->add_option("--listen", o.listen,
                "HOST:PORT where its peers reach it (default: the address from which it joins, any port)");
  add_joining(c, o);
  c->add_option("--child-of", o.child_of, "Process of the coordinator, which started this one and says what goes wrong")
      ->group("");
}

void add_perf(CLI::App& app, PerfOptions& o) {
  CLI::App* c = app.add_subcommand("perf", "The table of nccl-tests: a collective over sizes, simulated or run");
  c->footer(
      "Collectives are those of nccl-tests: all_reduce, reduce_scatter, all_gather, broadcast, reduce, alltoall,\n"
      "gather, scatter, sendrecv; docs/algorithms.md tells which algorithms have which. Sizes are bytes; K, M and G "
      "stand for\n"
      "powers of 1024. Sizes, count and busbw are as nccl-tests defines them. In a real run workers join as those of\n"
      "tutti run do: by --listen, or started together by TF_CONFIG, mpirun, srun or torchrun.\n"
      "Examples:\n"
      "  tutti perf scenarios/06_resnet50_nccl.textproto -b 1K -e 1G -f 4\n"
      "  tutti perf scenarios/06_resnet50_nccl.textproto --collective all_gather\n"
      "  tutti perf scenarios/02_eight_hosts_ring.textproto --backend tcp -e 4M -o avg\n"
      "  tutti perf scenarios/02_eight_hosts_ring.textproto --backend tcp --collective broadcast -r 3 --place in\n"
      "  mpirun -n 8 tutti perf scenarios/02_eight_hosts_ring.textproto --backend tcp\n"
      "  tutti perf --cluster hgx-h100 --nodes 2 -b 8 -e 8G\n"
      "  tutti perf --cluster dgx-a100 --nccl-version 2.18.3 --set NCCL_ALGO=Ring --explain -b 1M -e 1M");
  add_scenario(c, o.scenario, "Scenario whose cluster and strategy are used")->required(false);
  c->add_option(
      "--cluster", o.nccl.cluster,
      "Instead of a scenario: NCCL's own choice and time on machines of this kind (name of a shipped one, or file)");
  c->add_option("--nodes", o.nccl.nodes, "Of them")->capture_default_str();
  c->add_option("--gpus", o.nccl.gpus, "Of each node (default: all)");
  c->add_option(
      "--network", o.nccl.network,
      "Between nodes: infiniband, roce, efa, efa_without_rdma, slingshot, tcpx, tcpxo or tcp (default: what the "
      "machine's card states)");
  c->add_option("--nccl-version", o.nccl.version, "Whose choice, such as 2.18.3 (default 2.28.9); from 2.6.4 on");
  c->add_option(
      "--driving", o.nccl.driving,
      "Who calls NCCL for the GPUs of a node: process_per_gpu (default), thread_per_gpu, or one_thread for all "
      "(nccl-tests -t, -g)");
  c->add_flag("--explain", o.nccl.explain, "All candidates with NCCL's estimates, and why the winner won");
  c->add_option("--against", o.nccl.against, "Log of nccl-tests (text or JSON), to be laid beside the prediction");
  c->add_option("--backend", o.backend, "sim; or real: tcp, cuda or nccl, as of tutti run")->capture_default_str();
  add_real(c, o.real);
  c->add_option("--collective", o.collective, "all_reduce or another, as listed below")->capture_default_str();
  c->add_option("-r,--root", o.root, "Of broadcast, reduce, gather and scatter (default 0)");
  c->add_option("--place", o.place, "out, in or both: where results go, beside the inputs or over them")
      ->capture_default_str();
  c->add_option("-b,--minbytes", o.least, "Smallest size")->capture_default_str();
  c->add_option("-e,--maxbytes", o.most, "Largest size")->capture_default_str();
  c->add_option("-f,--stepfactor", o.factor, "From size to size")->capture_default_str();
  c->add_option("--type", o.type, "Of the elements")->capture_default_str();
  c->add_option("-o,--op", o.op, "sum, prod, max, min or avg")->capture_default_str();
  c->add_option("-n,--iters", o.iterations, "Timed repetitions of a real run (default 20)");
  c->add_option("-w,--warmup_iters", o.warm_up, "Untimed ones before them (default 5; there is always one)");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
}

}  // namespace tutti::tools
