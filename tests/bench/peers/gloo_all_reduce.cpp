// Measures Gloo's all-reduces over TCP in the same way as mpi_all_reduce.c measures those of MPI:
// float32, sum, in place, iterations back to back on warm buffers. The result is the mean time over
// all ranks. Every element of the first result is verified.
//
//     gloo_all_reduce RANKS ALGORITHM SECONDS BYTES:ITERATIONS:WARM_UP …
//
// The program starts its ranks as processes, which find each other through files in a folder.
// ALGORITHM is ring or bcube (gloo::allreduce), or chunked or halving (the older classes, whose
// buffers are registered in advance). With "+sync", which the older classes support, the caller
// waits for its sockets itself instead of Gloo's thread. With "+busy", it polls without releasing
// its core.
//
// Prints `bytes microseconds iterations` for each size. Stops after a size at which a single
// all-reduce takes more than ten times SECONDS, because the `ring` of current Gloo waits for
// delayed acknowledgements. Exit status 1: an element is wrong; 2: the arguments are wrong; 3: Gloo
// failed.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "inputs.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Point {
  long bytes = 0, iterations = 0, warm_up = 0;
};

struct Task {
  int ranks = 0;
  std::string algorithm;
  bool sync = false, busy = false;
  double limit = 1;
  std::vector<Point> points;
};

/// The state of one rank.
class Rank {
 public:
  Rank(const Task& task, int rank, const std::string& folder)
      : task_(task), rank_(rank), store_(folder) {
    gloo::transport::tcp::attr at;
    at.iface = "lo";
    at.ai_family = AF_INET;
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(at);
    const auto meeting = std::make_shared<gloo::rendezvous::Context>(rank, task.ranks);
    meeting->connectFullMesh(store_, device);
    context_ = meeting;
    for (int r = 0; task.sync && r < task.ranks; ++r) {
      if (r != rank) context_->getPair(r)->setSync(true, task.busy);
    }
    barrier_ = std::make_unique<gloo::BarrierAllToAll>(context_);
    sum_ =
        std::make_unique<gloo::AllreduceRing<double>>(context_, std::vector<double*>{&summed_}, 1);
  }

  enum class Next { kOn, kTooSlow, kWrong };

  Next measure(const Point& point) {
    const long count = point.bytes / 4;
    std::vector<float> data(static_cast<std::size_t>(count));
    for (long e = 0; e < count; ++e) data[e] = input(rank_, e);
    const auto all_reduce = algorithm(data);
    all_reduce();
    const double wrong =
        over_ranks(static_cast<double>(wrong_elements(data.data(), count, task_.ranks)));
    if (wrong > 0) {
      if (rank_ == 0) std::fprintf(stderr, "%ld bytes: %.0f wrong elements\n", point.bytes, wrong);
      return Next::kWrong;
    }
    long iterations = point.iterations, warm_up = point.warm_up;
    const double one = timed(all_reduce, 2) / 2;
    if (one > 10 * task_.limit) return Next::kTooSlow;
    shorten(&iterations, &warm_up, one, task_.limit);
    timed(all_reduce, warm_up);
    const double seconds = timed(all_reduce, iterations);
    if (rank_ == 0)
      std::cout << point.bytes << ' ' << seconds / iterations * 1e6 << ' ' << iterations
                << std::endl;
    barrier_->run();  // keep the buffers until all ranks have finished
    return Next::kOn;
  }

  /// Waits until all ranks have finished. A rank reports an error if a peer has exited, even if it
  /// needs nothing more from that peer.
  void leave() {
    std::vector<std::string> all;
    for (int r = 0; r < task_.ranks; ++r) all.push_back("through " + std::to_string(r));
    store_.set(all[rank_], {'y'});
    store_.wait(all);
  }

 private:
  std::function<void()> algorithm(std::vector<float>& data) {
    const std::vector<float*> at{data.data()};
    const int count = static_cast<int>(data.size());
    std::shared_ptr<gloo::Algorithm> older;
    if (task_.algorithm == "chunked")
      older = std::make_shared<gloo::AllreduceRingChunked<float>>(context_, at, count);
    if (task_.algorithm == "halving")
      older = std::make_shared<gloo::AllreduceHalvingDoubling<float>>(context_, at, count);
    if (older) return [older] { older->run(); };
    auto options = std::make_shared<gloo::AllreduceOptions>(context_);
    options->setAlgorithm(task_.algorithm == "ring" ? gloo::AllreduceOptions::Algorithm::RING
                                                    : gloo::AllreduceOptions::Algorithm::BCUBE);
    options->setOutput(data.data(), data.size());
    options->setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    return [options] { gloo::allreduce(*options); };
  }

  double over_ranks(double value) {
    summed_ = value;
    sum_->run();
    return summed_;
  }

  /// Returns the mean over all ranks of the seconds that `times` all-reduces take.
  double timed(const std::function<void()>& all_reduce, long times) {
    barrier_->run();
    const auto start = Clock::now();
    for (long i = 0; i < times; ++i) all_reduce();
    return over_ranks(std::chrono::duration<double>(Clock::now() - start).count()) / task_.ranks;
  }

  const Task& task_;
  int rank_;
  gloo::rendezvous::FileStore store_;
  std::shared_ptr<gloo::Context> context_;
  std::unique_ptr<gloo::BarrierAllToAll> barrier_;
  double summed_ = 0;
  std::unique_ptr<gloo::AllreduceRing<double>> sum_;
};

int run(const Task& task, int rank, const std::string& folder) {
  try {
    Rank own(task, rank, folder);
    for (const Point& point : task.points) {
      const Rank::Next next = own.measure(point);
      if (next == Rank::Next::kWrong) return 1;
      if (next == Rank::Next::kTooSlow) break;
    }
    own.leave();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    return 3;
  }
}

bool parse(int argc, char** argv, Task& task) {
  if (argc < 5) return false;
  task.ranks = std::atoi(argv[1]);
  task.algorithm = argv[2];
  const std::size_t plus = task.algorithm.find('+');
  const std::string how = plus == std::string::npos ? "" : task.algorithm.substr(plus + 1);
  task.algorithm.resize(std::min(plus, task.algorithm.size()));
  task.busy = how == "busy";
  task.sync = task.busy || how == "sync";
  task.limit = std::atof(argv[3]);
  for (int a = 4; a < argc; ++a) {
    Point point;
    if (std::sscanf(argv[a], "%ld:%ld:%ld", &point.bytes, &point.iterations, &point.warm_up) != 3)
      return false;
    if (point.bytes < 4 || point.iterations < 1) return false;
    task.points.push_back(point);
  }
  const bool older = task.algorithm == "chunked" || task.algorithm == "halving";
  const bool known = older || task.algorithm == "ring" || task.algorithm == "bcube";
  return known && task.ranks > 1 && (how.empty() || (task.sync && older));
}

}  // namespace

int main(int argc, char** argv) {
  Task task;
  if (!parse(argc, argv, task)) {
    std::fprintf(stderr,
                 "expected RANKS ring|bcube|chunked[+sync|+busy]|halving[+sync|+busy] SECONDS "
                 "BYTES:ITERATIONS:WARM_UP ...\n");
    return 2;
  }
  std::string folder = std::filesystem::temp_directory_path() / "gloo_all_reduce.XXXXXX";
  if (!mkdtemp(folder.data())) return 3;
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < task.ranks; ++rank) {
    const pid_t id = fork();
    if (id == 0) _exit(run(task, rank, folder));
    ranks.push_back(id);
  }
  int worst = 0;
  for (const pid_t id : ranks) {
    int status = 0;
    waitpid(id, &status, 0);
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 3);
  }
  std::filesystem::remove_all(folder);
  return worst;
}
