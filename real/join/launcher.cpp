// Launchers pass ranks and addresses in environment variables, whose names differ between
// launchers. One function per launcher converts its variables to a Launch. Launchers may be nested,
// such as mpirun inside srun. In a nested launch, the variables of both launchers are set. `kAll`
// lists launchers from the innermost to the outermost. The first launcher in this list whose
// variables are set is used. The function is_there() handles exceptions to this rule. Slurm
// provides hosts but no port, so all ranks compute the same port, from 20000 to 29999, from the
// number of the job and its step. Open MPI and MPICH provide no address. Ranks then find each other
// through a file (rendezvous.h), or through an address that the user specifies.

#include "real/join/launcher.h"

#include <array>
#include <charconv>

#include "real/join/tf_config.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::ProblemCode;

namespace {

constexpr int kMaxRanks = 1 << 20;

/// Reads the environment variables of one launcher. Error messages name every variable that is
/// involved.
class Reader {
 public:
  explicit Reader(const Variables& variables) : variables_(variables) {}

  [[nodiscard]] std::optional<std::string> text(const std::string& name) const {
    auto value = variables_(name);
    if (value && value->empty()) return std::nullopt;
    return value;
  }

  /// Reads a variable that must be set to a number from `least` to `limit` - 1.
  int number(const std::string& name, int least, int limit) {
    const auto value = text(name);
    if (!value) return complain({ProblemCode::kMissing, name}, name + " is not set"), least;
    int n = 0;
    const char* const end = value->data() + value->size();
    const auto [stop, status] = std::from_chars(value->data(), end, n);
    const bool number = status == std::errc() && stop == end;
    if (!number || n < least || n >= limit) {
      complain(
          {!number     ? ProblemCode::kWrongType
           : n < least ? ProblemCode::kTooSmall
                       : ProblemCode::kTooLarge,
           name},
          fmt::format("{}={}: expected a number from {} to {}", name, *value, least, limit - 1));
    }
    return n;
  }

  std::optional<int> number_if_set(const std::string& name) {
    if (!text(name)) return std::nullopt;
    return number(name, 0, kMaxRanks);
  }

  /// Adds an error message about the variable of the kind `kind`.
  void complain(core::ProblemKind kind, const std::string& what) {
    problems_.add(std::move(kind), {}, "{}", what);
  }
  [[nodiscard]] bool good() const { return problems_.empty(); }
  Expected<std::optional<Launch>> result(Launch launch) {
    if (!good()) return problems_.take();
    if (launch.size == 1) return std::nullopt;
    return launch;
  }

 private:
  const Variables& variables_;
  core::Problems problems_;
};

/// Reads the rank and the number of ranks from two variables; the rank must be less than the number
/// of ranks.
void read_place(Reader& reader, Launch& launch, const std::string& rank, const std::string& size) {
  launch.size = reader.number(size, 1, kMaxRanks);
  launch.rank = reader.number(rank, 0, kMaxRanks);
  if (reader.good() && launch.rank >= launch.size)
    reader.complain({ProblemCode::kTooLarge, rank},
                    fmt::format("{}={} is not below {}={}", rank, launch.rank, size, launch.size));
}

Expected<std::optional<Launch>> torchrun(Reader reader) {
  Launch launch;
  launch.launcher = LauncherKind::kTorchrun;
  read_place(reader, launch, "RANK", "WORLD_SIZE");
  launch.one_machine = reader.number_if_set("LOCAL_WORLD_SIZE") == launch.size;
  int port = reader.number("MASTER_PORT", 1, 65'536);
  // torchrun's own agent already listens at MASTER_PORT.
  if (reader.text("TORCHELASTIC_USE_AGENT_STORE") == "True")
    port = port == 65'535 ? port - 1 : port + 1;
  if (!reader.text("MASTER_ADDR"))
    reader.complain({ProblemCode::kMissing, "MASTER_ADDR"}, "MASTER_ADDR is not set");
  launch.address = Address{reader.text("MASTER_ADDR").value_or(""), port};
  launch.address_from = "MASTER_ADDR and MASTER_PORT";
  launch.job =
      fmt::format("torchrun-{}-{}", reader.text("TORCHELASTIC_RUN_ID").value_or("run"), port);
  return reader.result(std::move(launch));
}

Expected<std::optional<Launch>> open_mpi(Reader reader) {
  Launch launch;
  launch.launcher = LauncherKind::kOpenMpi;
  read_place(reader, launch, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  launch.one_machine = reader.number_if_set("OMPI_COMM_WORLD_LOCAL_SIZE") == launch.size;
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}) {
    if (launch.job.empty() && reader.text(name)) launch.job = "openmpi-" + *reader.text(name);
  }
  return reader.result(std::move(launch));
}

Expected<std::optional<Launch>> mpich(Reader reader) {
  Launch launch;
  launch.launcher = LauncherKind::kMpich;
  read_place(reader, launch, "PMI_RANK", "PMI_SIZE");
  launch.one_machine = reader.number_if_set("MPI_LOCALNRANKS") == launch.size;
  return reader.result(std::move(launch));
}

Expected<std::optional<Launch>> slurm(Reader reader) {
  Launch launch;
  launch.launcher = LauncherKind::kSlurm;
  const bool step_knows = reader.text("SLURM_STEP_NUM_TASKS").has_value();
  read_place(reader, launch, "SLURM_PROCID", step_knows ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS");
  const std::string job = reader.text("SLURM_JOB_ID").value_or("0");
  const std::string step = reader.text("SLURM_STEP_ID").value_or("0");
  launch.job = fmt::format("slurm-{}.{}", job, step);
  for (const char* name : {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}) {
    const auto nodes = reader.number_if_set(name);
    if (!nodes) continue;
    launch.one_machine = *nodes == 1;
    break;
  }
  // Every rank computes the same port from the job. The port is below the range from which systems
  // assign ports. A job has only one rank 0, so the port is rarely in use.
  unsigned port = 0;
  for (const char c : launch.job) port = port * 31 + static_cast<unsigned char>(c);
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    const auto list = reader.text(name);
    if (!list) continue;
    const auto host = first_host(*list);
    if (!host) {
      reader.complain(
          {ProblemCode::kSyntax, name},
          fmt::format("{}={}: expected a list of hosts, such as node[01-04]", name, *list));
    } else {
      launch.address = Address{*host, static_cast<int>(20'000 + port % 10'000)};
      launch.address_from = name;
    }
    return reader.result(std::move(launch));
  }
  // SLURM_LAUNCH_NODE_IPADDR is the address of the machine on which srun was called. Within a batch
  // script, SLURM_LAUNCH_NODE_IPADDR is the address of rank 0's machine.
  if (const auto host = reader.text("SLURM_LAUNCH_NODE_IPADDR")) {
    launch.address = Address{*host, static_cast<int>(20'000 + port % 10'000)};
    launch.address_from = "SLURM_LAUNCH_NODE_IPADDR";
  }
  return reader.result(std::move(launch));
}

Expected<std::optional<Launch>> tf_config(const Reader& reader) {
  const auto text = reader.text("TF_CONFIG");
  if (!text)
    return tl::make_unexpected(
        Error::request({ProblemCode::kMissing, "TF_CONFIG"}, "TF_CONFIG is not set"));
  auto launch = launch_of_tf_config(*text);
  if (!launch) return tl::make_unexpected(launch.error());
  if (launch->size == 1) return std::nullopt;
  return std::move(*launch);
}

/// True if the variables of the launcher are set. A batch script under Slurm has SLURM_PROCID, but
/// no step. The script is a single process, even if the job has several tasks. RANK and WORLD_SIZE
/// alone are ambiguous.
bool is_there(LauncherKind kind, const Reader& reader) {
  const auto set = [&](const char* name) { return reader.text(name).has_value(); };
  switch (kind) {
    case LauncherKind::kTfConfig: return set("TF_CONFIG") && *reader.text("TF_CONFIG") != "{}";
    case LauncherKind::kTorchrun:
      return set("RANK") && set("WORLD_SIZE") && set("MASTER_ADDR") && set("MASTER_PORT");
    case LauncherKind::kOpenMpi: return set("OMPI_COMM_WORLD_RANK");
    // srun --mpi=pmi2 sets PMI_RANK like MPICH. A run that srun has started counts as launched by
    // Slurm, which provides the hosts.
    case LauncherKind::kMpich:
      return set("PMI_RANK") && (set("MPI_LOCALNRANKS") || !set("SLURM_STEP_ID"));
    case LauncherKind::kSlurm: return set("SLURM_PROCID") && set("SLURM_STEP_ID");
  }
  return false;
}

Expected<std::optional<Launch>> read(LauncherKind kind, const Variables& variables) {
  switch (kind) {
    case LauncherKind::kTfConfig: return tf_config(Reader(variables));
    case LauncherKind::kTorchrun: return torchrun(Reader(variables));
    case LauncherKind::kOpenMpi: return open_mpi(Reader(variables));
    case LauncherKind::kMpich: return mpich(Reader(variables));
    case LauncherKind::kSlurm: return slurm(Reader(variables));
  }
  return std::nullopt;
}

constexpr std::array kAll{LauncherKind::kTfConfig, LauncherKind::kTorchrun, LauncherKind::kOpenMpi,
                          LauncherKind::kMpich, LauncherKind::kSlurm};

}  // namespace

std::string to_string(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::kTfConfig: return "tf-config";
    case LauncherKind::kTorchrun: return "torchrun";
    case LauncherKind::kOpenMpi: return "openmpi";
    case LauncherKind::kMpich: return "mpich";
    case LauncherKind::kSlurm: return "slurm";
  }
  return {};
}

std::optional<LauncherKind> parse_launcher(const std::string& name) {
  for (const LauncherKind kind : kAll) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

Expected<std::optional<Launch>> find_launch(const Variables& variables,
                                            std::optional<LauncherKind> only) {
  if (only) return read(*only, variables);
  const Reader reader(variables);
  for (const LauncherKind kind : kAll) {
    if (is_there(kind, reader)) return read(kind, variables);
  }
  return std::nullopt;
}

std::optional<std::string> first_host(const std::string& list) {
  const std::string first = list.substr(0, list.find_first_of(",["));
  if (first.find_first_of("] \t:/") != std::string::npos) return std::nullopt;
  const std::size_t open = list.find_first_of(",[");
  if (open == std::string::npos || list[open] == ',')
    return first.empty() ? std::nullopt : std::optional(first);
  const std::size_t digits_end = list.find_first_not_of("0123456789", open + 1);
  if (digits_end == std::string::npos || digits_end == open + 1) return std::nullopt;
  const std::size_t close = list.find(']', open);
  if (close == std::string::npos) return std::nullopt;
  // A host name may continue after the brackets, as in rack[1-2]n4.
  const std::size_t rest_end = std::min(list.find_first_of(",[", close), list.size());
  if (rest_end < list.size() && list[rest_end] == '[') return std::nullopt;
  return first + list.substr(open + 1, digits_end - open - 1) +
         list.substr(close + 1, rest_end - close - 1);
}

}  // namespace tutti::real
