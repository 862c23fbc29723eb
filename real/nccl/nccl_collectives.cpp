// Every pack is a state machine. `missing` counts the ranks that have not completed the current
// phase. NCCL is asynchronous in two ways. First, a call may return before NCCL has enqueued the
// operation on the streams. Until the operation has been enqueued, the pack is in issuing_, and no
// other pack is issued. Second, the streams execute the operation later. A mark after the operation
// on every stream reports its end (tickets_). The first failure is stored, and every later poll()
// returns it.
//
// NCCL's profiler names operations only by counting them, so reported channels are matched with
// issued operations in order. After a mismatch, the run continues without recording channels. NCCL
// and CUDA are loaded as modules, so they are called through tables of functions (api.h). The
// Interpreter executes schedules between workers.

#include "real/nccl/nccl_collectives.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "core/base/check.h"
#include "real/process/module.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::Rank;

namespace {

/// The interval at which the states of communicators are polled while there is no other work.
constexpr std::chrono::milliseconds kLook{2};
/// The time to wait for NCCL to report the last channels of a batch.
constexpr std::chrono::milliseconds kLastWords{200};
/// The time limit for a communicator to end normally.
constexpr std::chrono::seconds kFarewell{5};

std::string nccl_error(const TuttiNcclApi& api, int error, const std::string& doing,
                       TuttiNcclCommunicator* communicator) {
  const char* const last = api.last_error(communicator);
  return fmt::format("NCCL: {}: {} ({}){}{}; set NCCL_DEBUG=INFO for details", doing,
                     api.error_text(error), error, last && *last ? ": " : "", last ? last : "");
}

}  // namespace

// --- communicators ---

Expected<const TuttiNcclApi*> NcclCollectives::load() {
  return load_api<TuttiNcclApi, TuttiNcclEntry>("tutti_nccl", kTuttiNcclEntry, kTuttiNcclInterface,
                                                "--backend nccl", "NCCL and the CUDA toolkit");
}

Expected<std::string> NcclCollectives::make_id(const TuttiNcclApi& api) {
  std::string id(kTuttiNcclIdBytes, '\0');
  const int error = api.make_id(id.data());
  if (error == 0) return id;
  return tl::make_unexpected(
      Error::run({core::ProblemCode::kSystem},
                 nccl_error(api, error, "creating a communicator's identifier", nullptr)));
}

NcclCollectives::NcclCollectives(const TuttiNcclApi& api, Transport& transport,
                                 CudaDevices& devices, NcclOptions options)
    : api_(api),
      devices_(devices),
      options_(std::move(options)),
      lowered_(std::make_unique<Interpreter>(transport, devices,
                                             static_cast<InterpreterListener&>(*this), false)),
      communicators_(options_.ranks.size(), nullptr) {}

Expected<std::unique_ptr<NcclCollectives>> NcclCollectives::open(
    const TuttiNcclApi& api, Transport& transport, CudaDevices& devices, NcclOptions options,
    const std::function<bool()>& idle) {
  std::unique_ptr<NcclCollectives> made(
      new NcclCollectives(api, transport, devices, std::move(options)));
  if (made->options_.follow_channels)
    made->following_ = api.follow_channels() ? Following::kYes : Following::kOtherProfiler;
  // Discard reports from earlier communicators of this process, so that they are not attributed to
  // the new communicators.
  TuttiNcclChannel left[64];
  while (made->following_ == Following::kYes && api.take_channels(left, 64) > 0) {
  }
  if (auto joined = made->make_communicators(idle); !joined)
    return tl::make_unexpected(joined.error());
  return made;
}

Expected<void> NcclCollectives::make_communicators(const std::function<bool()>& idle) {
  const std::int32_t own = own_ranks();
  const bool shared = options_.ranks_in_all > 0;
  if (!shared && own < 2) return {};  // a single rank needs no communicator
  if (!shared) {
    auto id = make_id(api_);
    if (!id) return tl::make_unexpected(id.error());
    options_.id = std::move(*id);
  }
  if (options_.id.size() != kTuttiNcclIdBytes) {
    return tl::make_unexpected(
        Error::run(fmt::format("NCCL: the communicator's identifier has {} bytes instead of {}",
                               options_.id.size(), kTuttiNcclIdBytes)));
  }
  const std::string doing =
      fmt::format("creating a communicator of {} ranks", shared ? options_.ranks_in_all : own);
  const auto failed = [this] {
    return tl::make_unexpected(Error::run({core::ProblemCode::kSystem}, failure_));
  };
  succeeded(api_.group_begin(), doing);
  for (std::size_t i = 0; i < options_.ranks.size() && failure_.empty(); ++i) {
    const Rank rank = options_.ranks[i];
    succeeded(api_.make_communicator(devices_.device_of(rank), options_.id.data(),
                                     shared ? options_.ranks_in_all : own,
                                     shared ? rank : static_cast<Rank>(i), static_cast<int>(i),
                                     &communicators_[i]),
              doing);
  }
  succeeded(api_.group_end(), doing);
  const Clock::time_point until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(options_.timeout);
  while (failure_.empty()) {
    const int state = state_of_all();
    if (state == 0) return {};
    if (!succeeded(state, doing)) break;
    if (Clock::now() > until) {
      failure_ = fmt::format("NCCL: {}: not all ranks joined within {:g} s", doing,
                             options_.timeout.count());
    } else if (!idle()) {
      failure_ = "the run was stopped";
    } else {
      std::this_thread::sleep_for(kLook);
    }
  }
  return failed();
}

/// Stores the failure if NCCL's result `answer` is an error. Returns true if nothing has failed so
/// far. "In progress" is not an error; a caller that needs the final result queries the
/// communicator's state.
bool NcclCollectives::succeeded(int answer, const std::string& doing) {
  if (answer == 0 || answer == kTuttiNcclInProgress || !failure_.empty()) return failure_.empty();
  failure_ =
      nccl_error(api_, answer, doing, communicators_.empty() ? nullptr : communicators_.front());
  return false;
}

/// Returns the error of the first communicator that has an error. Without errors, returns "in
/// progress" if an operation of any communicator is in progress, and 0 otherwise.
int NcclCollectives::state_of_all() {
  int all = 0;
  for (TuttiNcclCommunicator* const communicator : communicators_) {
    const int state = communicator ? api_.state(communicator) : 0;
    if (state != 0 && state != kTuttiNcclInProgress) return state;
    all = std::max(all, state);
  }
  return all;
}

NcclCollectives::~NcclCollectives() { end_communicators(); }

void NcclCollectives::end_communicators() {
  // Ending a communicator normally waits for its operations, so communicators with operations in
  // flight are aborted.
  bool in_order = failure_.empty() && tickets_.empty() && !issuing_ && queued_.empty();
  for (TuttiNcclCommunicator* const communicator : communicators_) {
    if (communicator && in_order)
      in_order = succeeded(api_.finalize(communicator), "ending a communicator");
  }
  const Clock::time_point until = Clock::now() + kFarewell;
  int state = kTuttiNcclInProgress;
  while (in_order && Clock::now() < until && (state = state_of_all()) == kTuttiNcclInProgress)
    std::this_thread::sleep_for(kLook);
  for (TuttiNcclCommunicator*& communicator : communicators_) {
    if (!communicator) continue;
    static_cast<void>(in_order && state == 0 ? api_.discard(communicator)
                                             : api_.abort(communicator));
    communicator = nullptr;
  }
}

std::vector<std::string> NcclCollectives::notes() const {
  int version = 0;
  static_cast<void>(api_.version(&version));
  std::vector<std::string> settings;
  for (char** entry = environ; *entry; ++entry) {
    if (std::string_view(*entry).starts_with("NCCL_")) settings.emplace_back(*entry);
  }
  std::sort(settings.begin(), settings.end());
  std::vector<std::string> notes{fmt::format(
      "NCCL {}.{}.{}{}{}", version / 10'000, version / 100 % 100, version % 100,
      settings.empty() ? ", with no NCCL_ settings" : " with ", fmt::join(settings, " "))};
  if (options_.separate_host_ids)
    notes.emplace_back(
        "the measured times do not apply to NCCL between separate GPUs, because ranks of several "
        "processes share this machine's GPUs and NCCL treats each process as a separate host");
  if (following_ == Following::kOtherProfiler)
    notes.emplace_back(
        "NCCL's channels are not recorded, because NCCL_PROFILER_PLUGIN names another profiler");
  if (following_ == Following::kNoProfiler)
    notes.emplace_back(
        "NCCL's channels are not recorded, because the recording needs NCCL 2.27 or later");
  if (following_ == Following::kLost)
    notes.emplace_back(
        "NCCL's channels are recorded only in part, because NCCL reported an unexpected operation");
  if (stages())
    notes.emplace_back(
        "the schedule steps between workers are not recorded (--backend nccl cannot record them)");
  return notes;
}

std::vector<std::string> NcclCollectives::final_notes() const {
  if (channels_missed_ == 0) return {};
  return {
      fmt::format("at least {} channels of {} {} are missing in the timeline, because NCCL did not "
                  "report them within {} ms",
                  channels_missed_, options_.ranks.size() == 1 ? "rank" : "ranks",
                  fmt::join(options_.ranks, ", "), kLastWords.count())};
}

// --- packs ---

void NcclCollectives::open(CollectiveTag tag, const core::Collective& collective,
                           Operation operation, const std::vector<Rank>& ranks,
                           const std::vector<std::byte*>& data) {
  Pack& pack = packs_[tag];
  pack = {tag, &collective, operation, {}, Phase::kStarting, options_.ranks.size()};
  for (const Rank rank : options_.ranks) {
    const auto place = std::find(ranks.begin(), ranks.end(), rank);
    TUTTI_CHECK(place != ranks.end(), "rank {} has no buffer for pack {}", rank, tag.pack);
    pack.data.push_back(data[place - ranks.begin()]);
  }
  if (stages()) {
    lowered_->open(tag, options_.across[tag.pack], operation, ranks, data);
  } else {
    in_order_.push_back(tag);
  }
}

void NcclCollectives::start(CollectiveTag tag, Rank rank) {
  // A CPU takes part only in the schedule between workers, so start its part of this schedule
  // immediately. If NCCL executes the whole collective, the CPU has no work.
  if (devices_.host_reaches(rank))
    return stages() ? lowered_->start(tag, rank) : listener_->rank_done(tag, rank);
  Pack& pack = packs_.at(tag);
  TUTTI_CHECK(pack.phase == Phase::kStarting && pack.missing > 0, "rank {} starts pack {} twice",
              rank, tag.pack);
  if (--pack.missing == 0) enter(pack, Phase::kReducing);
}

void NcclCollectives::close(CollectiveTag tag) {
  if (stages()) lowered_->close(tag);
  packs_.erase(tag);
}

void NcclCollectives::enter(Pack& pack, Phase phase) {
  pack.phase = phase;
  pack.missing = options_.ranks.size();
  const bool alone = options_.ranks.size() == 1;
  switch (phase) {
    case Phase::kStarting: return;
    case Phase::kReducing:
      if (stages() && alone) return enter(pack, Phase::kAcross);
      if (stages()) return queued_.push_back(&pack);
      // If processes share the communicator, all of these processes issue its packs in the same
      // order.
      while (!in_order_.empty() && packs_.at(in_order_.front()).phase == Phase::kReducing) {
        queued_.push_back(&packs_.at(in_order_.front()));
        in_order_.pop_front();
      }
      return;
    case Phase::kAcross:
      // In this phase, only the first rank of the worker has work. All other ranks complete the
      // phase immediately.
      for (const Rank rank : options_.ranks) lowered_->start(pack.tag, rank);
      return;
    case Phase::kBroadcasting:
      if (!alone || options_.factor != 1) return queued_.push_back(&pack);
      return phase_done(pack, options_.ranks.front());
    case Phase::kDone: return;
  }
}

/// Called when a rank has completed the current phase of the pack.
void NcclCollectives::phase_done(Pack& pack, Rank rank) {
  const CollectiveTag tag = pack.tag;
  ++moved_;
  const bool last = --pack.missing == 0;
  const bool over =
      pack.phase == Phase::kBroadcasting || (pack.phase == Phase::kReducing && !stages());
  if (over) {
    if (last) pack.phase = Phase::kDone;
    return listener_->rank_done(tag, rank);
  }
  if (last) enter(pack, pack.phase == Phase::kReducing ? Phase::kAcross : Phase::kBroadcasting);
}

/// Called when a rank has completed a schedule between workers.
void NcclCollectives::rank_done(CollectiveTag tag, Rank rank) {
  if (devices_.host_reaches(rank)) return listener_->rank_done(tag, rank);
  phase_done(packs_.at(tag), rank);
}

// --- NCCL ---

TuttiNcclFunction NcclCollectives::function_of(const Pack& pack) const {
  if (pack.phase == Phase::kBroadcasting) return kTuttiNcclBroadcast;
  switch (pack.collective->kind) {
    case core::CollectiveKind::kAllReduce: return kTuttiNcclAllReduce;
    case core::CollectiveKind::kReduceScatter: return kTuttiNcclReduceScatter;
    case core::CollectiveKind::kAllGather: return kTuttiNcclAllGather;
    case core::CollectiveKind::kBroadcast: return kTuttiNcclBroadcast;
    case core::CollectiveKind::kReduce: return kTuttiNcclReduce;
    default: return kTuttiNcclOther;
  }
}

/// Issues the sends and receives of one rank, for a collective that has no NCCL operation of its
/// own. If necessary, also copies the rank's own data. SOURCE: NVIDIA/nccl-tests src/alltoall.cu,
/// gather.cu, scatter.cu, sendrecv.cu.
int NcclCollectives::call_nccl_in_parts(const Pack& pack, std::size_t rank, void* stream) {
  const core::Contract contract = pack.collective->contract();
  const std::int64_t item = core::size_of(pack.collective->type).count();
  const auto type = static_cast<int>(pack.collective->type);
  const Rank own = options_.ranks[rank];
  std::byte* const data = pack.data[rank];
  const auto started = [](int answer) { return answer == 0 || answer == kTuttiNcclInProgress; };
  int answer = 0;
  for (Rank peer = 0; peer < contract.members() && started(answer); ++peer) {
    const auto out = contract.part(own, peer);
    const auto in = contract.part(peer, own);
    const bool lies_there =
        peer == own && out && contract.input_shift == 0 && out->source.offset == out->target.offset;
    if (lies_there) continue;
    if (out) {
      const std::byte* const from = data + (out->source.offset + contract.input_shift) * item;
      answer = api_.send(communicators_[rank], from, out->source.count, type, peer, stream);
    }
    if (in && started(answer))
      answer = api_.receive(communicators_[rank], data + in->target.offset * item, in->target.count,
                            type, peer, stream);
  }
  return answer;
}

/// Calls the NCCL operation of the pack's current phase for one rank of this process. Inputs and
/// outputs are at the positions that the contract specifies.
int NcclCollectives::call_nccl(const Pack& pack, std::size_t rank, void* stream) {
  TuttiNcclCommunicator* const communicator = communicators_[rank];
  const core::Collective& collective = *pack.collective;
  const core::Contract contract = collective.contract();
  const std::int64_t item = core::size_of(collective.type).count();
  const std::int64_t own_block =
      core::has_blocks(collective.kind) ? options_.ranks[rank] * contract.block() : 0;
  std::byte* const data = pack.data[rank];
  const std::byte* const whole_input = data + contract.input_shift * item;
  const auto type = static_cast<int>(collective.type);
  const auto operation = static_cast<int>(pack.operation);
  switch (function_of(pack)) {
    case kTuttiNcclBroadcast:
      if (pack.phase == Phase::kBroadcasting)
        return api_.broadcast(communicator, data, data, collective.elements, type, 0, stream);
      return api_.broadcast(communicator, whole_input, data, collective.elements, type,
                            collective.root, stream);
    case kTuttiNcclReduceScatter:
      return api_.reduce_scatter(communicator, whole_input, data + own_block * item,
                                 contract.block(), type, operation, stream);
    case kTuttiNcclAllGather:
      return api_.all_gather(communicator, whole_input + own_block * item, data, contract.block(),
                             type, stream);
    case kTuttiNcclReduce:
      return api_.reduce(communicator, whole_input, data, collective.elements, type, operation,
                         collective.root, stream);
    case kTuttiNcclAllReduce:
      return api_.all_reduce(communicator, whole_input, data, collective.elements, type, operation,
                             stream);
    case kTuttiNcclOther: break;
  }
  return call_nccl_in_parts(pack, rank, stream);
}

/// Issues the operation of the pack's phase to NCCL, as one group for all ranks of this process.
void NcclCollectives::issue(Pack& pack) {
  issuing_ = &pack;
  const bool spreads = pack.phase == Phase::kBroadcasting;
  const core::Collective& collective = *pack.collective;
  if (collective.elements == 0 || !communicators_.front()) return;
  const std::string doing =
      fmt::format("{} pack {}", spreads ? "broadcasting" : "reducing", pack.tag.pack);
  succeeded(api_.group_begin(), doing);
  for (std::size_t i = 0; i < communicators_.size() && failure_.empty(); ++i) {
    void* const stream = devices_.outside_stream(options_.ranks[i]);
    if (!stream) break;  // the device has failed and reports that itself
    succeeded(call_nccl(pack, i, stream), doing);
  }
  succeeded(api_.group_end(), doing);
  // A single rank has no NCCL kernel, and thus no channels. The profiler does not report sends and
  // receives.
  const TuttiNcclFunction function = function_of(pack);
  if (function == kTuttiNcclOther) return;
  if (following_ != Following::kYes || std::max(options_.ranks_in_all, own_ranks()) < 2) return;
  const core::Bytes bytes = collective.contract().block() * core::size_of(collective.type);
  requested_.push_back({pack.tag, spreads ? 1 : 0, function,
                        spreads ? collective.bytes().count() : bytes.count(),
                        std::vector<bool>(communicators_.size())});
  channels_due_ += static_cast<std::int64_t>(communicators_.size());
}

/// Called after NCCL has enqueued the operation on the streams. Enqueues the work that follows the
/// operation, and a notification of its end.
Expected<void> NcclCollectives::after_issue() {
  const int state = state_of_all();
  succeeded(state, "enqueuing a pack on the streams");
  if (!failure_.empty())
    return tl::make_unexpected(Error::run({core::ProblemCode::kSystem}, failure_));
  if (state == kTuttiNcclInProgress) return {};
  Pack& pack = *std::exchange(issuing_, nullptr);
  const bool last = pack.phase == Phase::kBroadcasting || !stages();
  for (std::size_t i = 0; i < options_.ranks.size(); ++i) {
    const std::vector<core::Contract::Output> sums =
        pack.collective->contract().outputs(options_.ranks[i]);
    if (last && options_.factor != 1 && !sums.empty()) {
      Work work;
      work.kind = Work::Kind::kScale;
      work.rank = options_.ranks[i];
      work.type = pack.collective->type;
      work.target = pack.data[i] + sums.front().at.offset * core::size_of(work.type).count();
      work.count = sums.front().at.count;
      work.factor = options_.factor;
      devices_.perform_outside(work);
    }
    const Ticket ticket = ++next_ticket_;
    tickets_[ticket] = {&pack, options_.ranks[i]};
    devices_.mark(options_.ranks[i], ticket);
  }
  return {};
}

/// Checks the communicators regularly, since their state shows the loss of a peer.
Expected<void> NcclCollectives::check_communicators() {
  const Clock::time_point now = Clock::now();
  if (now - looked_ < kLook) return {};
  looked_ = now;
  if (succeeded(state_of_all(), "waiting for peers")) return {};
  return tl::make_unexpected(Error::run({core::ProblemCode::kSystem}, failure_));
}

// --- channels ---

void NcclCollectives::poll_channels() {
  TuttiNcclChannel channels[64];
  int count = 0;
  while (following_ == Following::kYes && (count = api_.take_channels(channels, 64)) > 0) {
    for (const TuttiNcclChannel& channel : std::span(channels, static_cast<std::size_t>(count))) {
      if (following_ == Following::kYes) record_channel(channel);
    }
  }
}

/// Assigns a reported channel to the operation that Tutti has issued. NCCL and Tutti identify
/// operations only by counting them, so this function checks that the reported operation has the
/// expected kind and size.
void NcclCollectives::record_channel(const TuttiNcclChannel& channel) {
  const std::size_t who = channel.communicator;
  if (who >= options_.ranks.size() || channel.operation < given_up_) return;
  const std::size_t what = channel.operation - given_up_;
  if (what >= requested_.size() || requested_[what].function != channel.function ||
      requested_[what].bytes != channel.bytes) {
    following_ = Following::kLost;
    return;
  }
  Requested& requested = requested_[what];
  if (!requested.heard[who]) channels_due_ += channel.channels - 1;
  requested.heard[who] = true;
  --channels_due_;
  ++channels_reported_;
  const Rank rank = options_.ranks[who];
  const auto start = devices_.time_of(rank, channel.begin_ns);
  const auto end = devices_.time_of(rank, channel.end_ns);
  if (start && end && *end >= *start)
    listener_->channel_done({requested.tag, rank, channel.channel, requested.part, *start, *end});
}

void NcclCollectives::drain() {
  const Clock::time_point until = Clock::now() + kLastWords;
  for (poll_channels(); following_ == Following::kYes && channels_due_ > 0 && Clock::now() < until;
       poll_channels())
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  if (following_ == Following::kYes && !requested_.empty() && channels_reported_ == 0)
    following_ = Following::kNoProfiler;
  if (following_ == Following::kYes) channels_missed_ += channels_due_;
  // Channels that NCCL reports after this point are not recorded.
  given_up_ += static_cast<std::int64_t>(requested_.size());
  requested_.clear();
  channels_due_ = 0;
}

Expected<void> NcclCollectives::poll() {
  if (!failure_.empty())
    return tl::make_unexpected(Error::run({core::ProblemCode::kSystem}, failure_));
  if (issuing_) {
    if (auto issued = after_issue(); !issued) return issued;
  }
  while (!issuing_ && !queued_.empty()) {
    Pack& pack = *queued_.front();
    queued_.pop_front();
    issue(pack);
    if (auto issued = after_issue(); !issued) return issued;
  }
  if (auto checked = check_communicators(); !checked) return checked;
  poll_channels();
  return lowered_->poll();
}

Collectives::Clock::time_point NcclCollectives::next_due() const {
  if (issuing_ || !queued_.empty()) return {};
  return tickets_.empty() ? lowered_->next_due()
                          : std::min(lowered_->next_due(), Clock::now() + kLook);
}

void NcclCollectives::worked(Ticket ticket) {
  const auto entry = tickets_.extract(ticket);
  if (entry.empty()) return lowered_->worked(ticket);
  phase_done(*entry.mapped().first, entry.mapped().second);
}

std::string NcclCollectives::progress_text() const {
  std::string text = lowered_->progress_text();
  int listed = 0;
  for (const auto& [tag, pack] : packs_) {
    const char* what = nullptr;
    switch (pack.phase) {
      case Phase::kStarting:
        if (pack.missing == options_.ranks.size()) continue;
        what = "has not been started by all replicas of this process";
        break;
      case Phase::kReducing:
        what =
            stages() ? "is being reduced by NCCL inside this worker" : "is being reduced by NCCL";
        break;
      case Phase::kAcross: what = "is being reduced across workers"; break;
      case Phase::kBroadcasting: what = "is being broadcast by NCCL"; break;
      case Phase::kDone: continue;
    }
    if (++listed > 4) return text + ", …";
    text += fmt::format("{}pack {} {} (missing: {} of {} ranks)", text.empty() ? "" : ", ",
                        tag.pack, what, pack.missing, options_.ranks.size());
  }
  return text;
}

}  // namespace tutti::real
