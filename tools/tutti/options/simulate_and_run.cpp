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
      "Interference between communication and computation: auto (on GPUs whose multiprocessors are "
      "known), on (on all devices that compute) or off (overrides the scenario)");
  c->add_option("--nccl", o.nccl,
                "Model of algorithm nccl: calibrated (NCCL's choice, with times fitted to "
                "measurements; rings on machines outside this model) or rings (rings over NCCL's "
                "channels, message by message) (overrides the scenario)");
  c->add_option("--fold", o.fold,
                "Simulate one worker on behalf of all identical ones, with identical times: auto "
                "(unless --timeline records a "
                "short run), on (refuse if workers differ) or off (simulate every worker)")
      ->capture_default_str();
  c->add_option(
       "--remember", o.remember,
       "Skip the simulation of training steps that repeat the previous one, with identical times: "
       "auto (unless the run is short or --timeline is given), on (always) or off (simulate all)")
      ->capture_default_str();
}

void add_run(CLI::App& app, RealRunOptions& o) {
  CLI::App* c = app.add_subcommand(
      "run", "Execute a scenario for real, with one process per worker (CPUs or GPUs)");
  c->footer(
      "Workers are processes of this machine, or join from other machines: with --listen, or "
      "started by TF_CONFIG,\n"
      "mpirun, srun or torchrun (docs/running.md). Computation is replayed as a delay of the same "
      "length. Every "
      "element\n"
      "of every result is verified.\n"
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
  c->add_option(
       "--compute", o.compute,
       "Replay of computation: sleep (the thread sleeps) or busy (the thread keeps a core busy)")
      ->capture_default_str();
  c->add_flag(
      "--emulate", o.emulate,
      "Emulate the scenario's links and devices, slowed down as far as this machine requires");
  c->add_option("--time-scale", o.time_scale,
                "Factor by which --emulate slows time down (default: chosen for this machine)");
  c->add_flag("--no-verify", o.no_verify, "Do not verify the results");
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
  c->add_option("--worker", o.worker, "Number of this worker (default: the lowest free number)");
  c->add_option("--listen", o.listen,
                "Address HOST:PORT at which other workers reach this one (default: the address it "
                "joins from, any port)");
  add_joining(c, o);
  c->add_option("--child-of", o.child_of,
                "Process id of the coordinator that started this worker and reports its errors")
      ->group("");
}

void add_perf(CLI::App& app, PerfOptions& o) {
  CLI::App* c = app.add_subcommand(
      "perf",
      "Print the nccl-tests table of a collective over message sizes, predicted or measured");
  c->footer(
      "Collectives are those of nccl-tests: all_reduce, reduce_scatter, all_gather, broadcast, "
      "reduce, alltoall,\n"
      "gather, scatter, sendrecv; docs/algorithms.md lists the collectives of each algorithm. "
      "Sizes "
      "are bytes; K, M and G "
      "stand for\n"
      "powers of 1024. Sizes, count and busbw are as nccl-tests defines them. Workers of a real "
      "run join as in tutti\n"
      "run: by --listen, or started by TF_CONFIG, mpirun, srun or torchrun.\n"
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
  add_scenario(c, o.scenario, "Scenario whose cluster and strategy are measured")->required(false);
  c->add_option("--cluster", o.nccl.cluster,
                "Predict NCCL on this machine, without a scenario: name of a shipped machine, or a "
                "machine file");
  c->add_option("--nodes", o.nccl.nodes, "Number of machines (nodes) given by --cluster")
      ->capture_default_str();
  c->add_option("-g,--gpus", o.nccl.gpus, "Number of GPUs used on each node (default: all)");
  c->add_option("--network", o.nccl.network,
                "Transport between nodes: infiniband, roce, efa, efa_without_rdma, slingshot, "
                "tcpx, tcpxo or tcp (default: the "
                "transport of the machine's network card)");
  c->add_option("--nccl-version", o.nccl.version,
                "NCCL release to model, such as 2.18.3 (default 2.28.9; from 2.6.4 on)");
  c->add_option("--driving", o.nccl.driving,
                "Processes that call NCCL for the GPUs of a node: process_per_gpu (default), "
                "thread_per_gpu (nccl-tests -t) or one_thread for all GPUs (nccl-tests -g)");
  c->add_option("--tuner", o.nccl.tuner,
                "Tuner plugin that NCCL loads: none (default), aws_ofi (the region tables of "
                "aws-ofi-nccl on EC2), or a table file written by tutti tune --emit nccl-tuner or "
                "for NVIDIA's example tuner");
  c->add_option("--instance", o.nccl.instance,
                "EC2 instance type for --tuner aws_ofi, such as p5en.48xlarge (default: by the "
                "GPUs where they leave no doubt)");
  c->add_option("--buffers", o.nccl.buffers,
                "Buffers of the collective: plain (default), registered (ncclCommRegister) or "
                "symmetric (ncclCommWindowRegister, NCCL 2.27 and later)");
  c->add_flag(
      "--explain", o.nccl.explain,
      "Print all candidate algorithms with NCCL's estimates, and why NCCL chooses the best one");
  c->add_option("--against", o.nccl.against,
                "nccl-tests log (text or JSON) to compare with the prediction");
  c->add_option(
       "--algorithms", o.algorithms,
       "Algorithms to put beside each other, with the lower bound and the sizes where they "
       "cross: built-in names, nccl, files, shipped algorithms (--format csv too)")
      ->delimiter(',');
  c->add_option("--backend", o.backend,
                "Backend: sim (predict), or a real one as in tutti run: tcp, cuda or nccl")
      ->capture_default_str();
  add_real(c, o.real);
  c->add_option("--collective", o.collective,
                "Collective operation, one of those listed below (default: the scenario's, "
                "normally all_reduce)");
  c->add_option("-r,--root", o.root,
                "Root rank of broadcast, reduce, gather and scatter (default 0)");
  c->add_option("--place", o.place, "Buffers: out (out of place), in (in place) or both")
      ->capture_default_str();
  c->add_option("-b,--minbytes", o.least, "Smallest message size, such as 8 or 1K")
      ->capture_default_str();
  c->add_option("-e,--maxbytes", o.most, "Largest message size, such as 8G")->capture_default_str();
  c->add_option("-f,--stepfactor", o.factor, "Factor between consecutive message sizes")
      ->capture_default_str();
  c->add_option("-d,--type,--datatype", o.type,
                "Data type of the elements; float, double, half and bf16 are taken, too")
      ->capture_default_str();
  c->add_option("-o,--op", o.op, "Reduction operation: sum, prod, max, min or avg")
      ->capture_default_str();
  c->add_option("-n,--iters", o.iterations,
                "Number of timed iterations of a real run (default 20)");
  c->add_option("-w,--warmup_iters", o.warm_up,
                "Number of warm-up iterations before the timed ones (default 5; at least one)");
  add_format(c, o.format);
}

}  // namespace tutti::tools
