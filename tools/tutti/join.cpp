// This file decides whether this process coordinates a run or joins a run, by the following rules.
// `--join` names the coordinator. If a launcher has started the process (mpirun, srun, torchrun,
// TF_CONFIG), rank 0 coordinates. The address comes from the launcher, from --rendezvous, or from a
// file that rank 0 writes. With `--listen` alone, the user starts the workers. Otherwise this
// process starts all workers. Two rules apply to all cases. An address that other machines can
// reach requires a secret that is not easy to guess. TLS and authentication codes of messages also
// require a secret. Rank 0 of a run on several machines rejects a
// host name for itself that resolves to loopback. real/join has the protocol, and real/coordinator
// gathers the workers.

#include "tools/tutti/join.h"

#include <sys/stat.h>

#include <cstdlib>

#include "core/base/file.h"
#include "real/join/secret.h"
#include "real/wire/digest.h"
#include "real/worker/machine.h"
#include "real/worker/worker.h"
#include "tools/tutti/io/interrupt.h"
#include "tools/tutti/io/memory_limit.h"

namespace tutti::tools {

using core::Expected;
using core::ProblemCode;
using real::Address;
using real::Launch;

namespace {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

/// True if the host is this machine. A name that cannot be resolved counts as another machine.
bool is_near(const std::string& host) { return real::is_loopback(host).value_or(false); }
/// True if the text obviously denotes this machine, without resolving a name.
bool is_loopback_name(const std::string& host) {
  return host == "localhost" || host.starts_with("127.");
}

Expected<std::string> read_secret(const JoinOptions& options, const real::Variables& variables) {
  if (options.secret_file.empty()) return variables("TUTTI_SECRET").value_or("");
  struct stat status {};
  if (::stat(options.secret_file.c_str(), &status) == 0 && (status.st_mode & 077) != 0)
    return refused({ProblemCode::kInvalid, "--secret-file"},
                   "--secret-file {}: other users can read this file; restrict it with chmod 600",
                   options.secret_file);
  auto text = core::read_text_file(options.secret_file, core::TextSource::kAnything);
  if (!text) return text;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  if (text->empty())
    return refused({ProblemCode::kMissing, "--secret-file"}, "--secret-file {}: the file is empty",
                   options.secret_file);
  return text;
}

/// Checks that a secret is given if other machines can reach the address.
Expected<void> check_secret(const Address& at, const std::string& secret,
                            const std::string& doing) {
  if (is_near(at.host)) return {};
  if (secret.empty()) {
    return refused(
        {ProblemCode::kMissing, "--secret-file"},
        "{} {} needs a secret that all workers share: set TUTTI_SECRET, or give --secret-file FILE "
        "(openssl rand -hex 16 makes one)",
        doing, to_string(at));
  }
  if (const std::string why = real::weakness_of(secret); !why.empty()) {
    return refused({ProblemCode::kTooSmall, "--secret-file"},
                   "the secret {} (openssl rand -hex 16 makes one)", why);
  }
  return {};
}

class PartFinder {
 public:
  PartFinder(const JoinOptions& options, const std::string& join, const real::Variables& variables)
      : options_(options), join_(join), variables_(variables) {}

  Expected<PartInRun> find() {
    auto secret = read_secret(options_, variables_);
    if (!secret) return failed(secret);
    secret_ = std::move(*secret);
    if (options_.wait_seconds) {
      if (!(*options_.wait_seconds > 0 && *options_.wait_seconds <= 86'400))
        return refused(out_of_range("--wait-seconds", *options_.wait_seconds, 86400),
                       "--wait-seconds must be above 0 and at most 86400");
      part_.wait = std::chrono::duration<double>(*options_.wait_seconds);
    }
    if (!options_.listen.empty()) {
      listen_ = real::parse_address(options_.listen, true);
      if (!listen_)
        return refused({ProblemCode::kSyntax, "--listen"}, "--listen {}: expected HOST:PORT",
                       options_.listen);
    }
    if (!options_.tls.empty()) {
      auto tls = real::TlsContext::open(options_.tls);
      if (!tls) return failed(tls);
      part_.gathering.tls = std::move(*tls);
    }
    if (auto found = find_part(); !found) return failed(found);
    part_.gathering.wait = part_.wait;
    return std::move(part_);
  }

 private:
  Expected<void> find_part() {
    if (!join_.empty()) {
      const auto at = real::parse_address(join_);
      if (!at)
        return refused({ProblemCode::kSyntax, "--join"},
                       "--join {}: expected the coordinator's HOST:PORT", join_);
      return join_at(*at);
    }
    if (auto found = find_launch(); !found) return found;
    if (part_.launch) return launched();
    if (!options_.rendezvous.empty())
      return refused({ProblemCode::kUnused, "--rendezvous"},
                     "--rendezvous applies only to processes of a launcher, but no launcher "
                     "started this process");
    if (listen_) return coordinate_at(*listen_, real::Gathering::Spawn::kNone);
    part_.gathering.spawn = real::Gathering::Spawn::kAll;
    return {};
  }

  Expected<void> find_launch() {
    std::optional<real::LauncherKind> only;
    if (options_.launcher == "none") return {};
    if (options_.launcher != "auto") {
      const auto kind = choice<real::LauncherKind>("--launcher", options_.launcher,
                                                   real::kLaunchers, real::parse_launcher);
      if (!kind) return failed(kind);
      only = *kind;
    }
    auto launch = real::find_launch(variables_, only);
    if (!launch) return failed(launch);
    part_.launch = std::move(*launch);
    return {};
  }

  Expected<void> launched() {
    Launch& launch = *part_.launch;
    part_.coordinates = launch.rank == 0;
    part_.gathering.ranks = launch.size;
    std::optional<Address> address = launch.address;
    if (launch.one_machine) address.reset();
    if (!options_.rendezvous.empty()) {
      address = real::parse_address(options_.rendezvous);
      if (!address) return by_file(options_.rendezvous);
    }
    if (address && part_.coordinates && !listen_ && !launch.one_machine && is_near(address->host) &&
        !is_loopback_name(address->host)) {
      return refused({ProblemCode::kInvalid, "--listen"},
                     "{} resolves to 127.… on this machine (see /etc/hosts), which other machines "
                     "cannot reach; give --listen HOST:{} with a reachable address, or 0.0.0.0",
                     address->host, address->port);
    }
    if (address && part_.coordinates)
      return coordinate_at(listen_.value_or(*address), real::Gathering::Spawn::kFirst);
    if (address) return join_at(*address);
    if (launch.one_machine) return by_file(variables_("TMPDIR").value_or("/tmp"));
    return refused({ProblemCode::kMissing, "--rendezvous"},
                   "{} started processes on several machines without the address of rank 0; give "
                   "--rendezvous HOST:PORT with the name of rank 0's machine and a free port, or "
                   "--rendezvous FOLDER with a folder that all machines share",
                   to_string(launch.launcher));
  }

  Expected<void> by_file(const std::string& place) {
    const Launch& launch = *part_.launch;
    struct stat status {};
    const bool folder = ::stat(place.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    std::string job = launch.job;
    if (folder && job.empty()) {
      if (!launch.one_machine) {
        return refused({ProblemCode::kMissing, "--rendezvous"},
                       "{} does not provide a name of the job, so a folder is not sufficient; give "
                       "--rendezvous FILE, with a file in a folder that all machines share",
                       to_string(launch.launcher));
      }
      job = to_string(launch.launcher) + "-" + real::launcher_process("hydra_pmi_proxy");
    }
    auto file =
        std::make_shared<real::RendezvousFile>(folder ? real::rendezvous_path(place, job) : place);
    part_.rendezvous = file;
    if (!part_.coordinates) {
      part_.where = [file, secret = real::RunSecret(secret_)]() {
        auto appointment = file->read();
        if (appointment && !secret.text().empty()) appointment->secret = secret;
        return appointment;
      };
      return {};
    }
    const Address here{launch.one_machine ? "127.0.0.1" : real::host_name(), 0};
    if (launch.one_machine && secret_.empty() && !listen_) secret_ = real::random_secret();
    const Address at = listen_.value_or(here);
    if (!launch.one_machine && (is_near(at.host) || real::is_every_address(at.host))) {
      return refused({ProblemCode::kMissing, "--listen"},
                     "other machines cannot reach this machine at {}; give --listen HOST:0 with an "
                     "address that other machines can reach",
                     to_string(at));
    }
    if (auto coordinated = coordinate_at(at, real::Gathering::Spawn::kFirst); !coordinated)
      return coordinated;
    part_.gathering.announce = [file, near = launch.one_machine,
                                secret = secret_](const Address& address) {
      return file->write({address, near ? secret : ""});
    };
    part_.gathering.met = [file] { file->remove(); };
    return {};
  }

  /// Checks that there is a secret if TLS uses it.
  [[nodiscard]] Expected<void> check_tls() const {
    const auto& tls = part_.gathering.tls;
    if (!tls || tls->mode() != real::TlsMode::kSecret || !secret_.empty()) return {};
    return refused({ProblemCode::kMissing, "--secret-file"},
                   "--tls secret needs a secret that all workers share: set TUTTI_SECRET, or give "
                   "--secret-file FILE (openssl rand -hex 16 makes one)");
  }

  Expected<void> coordinate_at(const Address& at, real::Gathering::Spawn spawn) {
    if (auto allowed = check_secret(at, secret_, "listening at"); !allowed) return allowed;
    if (auto allowed = check_tls(); !allowed) return allowed;
    part_.coordinates = true;
    part_.gathering.listen = at;
    part_.gathering.secret = secret_;
    part_.gathering.spawn = spawn;
    if (spawn != real::Gathering::Spawn::kNone) return {};
    part_.gathering.announce = [](const Address& address) -> Expected<void> {
      const std::string host =
          real::is_every_address(address.host) ? real::host_name() : address.host;
      print_note(
          fmt::format("waiting for workers at {}; run on each machine: tutti worker --join {}:{}\n",
                      to_string(address), host, address.port));
      return {};
    };
    part_.gathering.met = [] { print_note("all workers have joined\n"); };
    return {};
  }

  Expected<void> join_at(const Address& at) {
    if (auto allowed = check_secret(at, secret_, "joining"); !allowed) return allowed;
    if (auto allowed = check_tls(); !allowed) return allowed;
    if (listen_) {
      if (auto allowed = check_secret(*listen_, secret_, "listening at"); !allowed) return allowed;
    }
    part_.coordinates = false;
    part_.where = [appointment = real::Appointment{at, secret_}]() {
      return std::optional(appointment);
    };
    return {};
  }

  const JoinOptions& options_;
  const std::string& join_;
  const real::Variables& variables_;
  std::string secret_;
  std::optional<Address> listen_;
  PartInRun part_;
};

}  // namespace

Expected<PartInRun> part_in_run(const JoinOptions& options, const std::string& join,
                                const real::Variables& variables) {
  return PartFinder(options, join, variables).find();
}

Expected<PartInRun> own_part(const JoinOptions& options, const std::string& join) {
  return part_in_run(options, join, environment_variable);
}

int join_run(const PartInRun& part, std::int32_t number, const std::string& listen, bool quiet) {
  real::WorkerJoin join;
  join.where = part.where;
  join.worker = part.launch ? part.launch->rank : number;
  join.ranks = part.launch ? part.launch->size : 0;
  if (!listen.empty()) join.listen = real::parse_address(listen, true);
  join.wait = part.wait;
  join.tls = part.gathering.tls;
  // The coordinator ends workers that it has started. They also end when the coordinator ends
  // (real::end_with_parent()). The coordinator has checked that these workers fit into memory. A
  // worker that was started elsewhere checks its memory itself.
  if (!quiet) join.free_memory = [] { return free_memory(); };
  std::optional<Interrupt> interrupt;
  if (!quiet) join.interrupted = &interrupt.emplace().flag();
  const real::WorkerEnd end = real::work(join);
  if (end.done) return kDone;
  if (quiet && end.reported) return kRunFailed;
  const int status = report(end.done.error());
  // Launchers kill all processes when one process fails. A worker therefore returns success even
  // after a failure, which lets rank 0 complete its files. Rank 0's exit status reports the failure
  // for all ranks.
  return part.launch && end.reported && status == kRunFailed ? static_cast<int>(kDone) : status;
}

}  // namespace tutti::tools
