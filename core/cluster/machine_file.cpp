// Turns the message of a machine file into a Machine. Devices, switches and network cards are read
// before links, because links refer to them by name. A range in a name, such as gpu[0-7], stands
// for several parts. A link between two ranges connects their parts pairwise. A link between a
// single part and a range connects the part to every part of the range. Every link becomes two
// directed links.
//
// After an error, the reader continues with a valid placeholder value, so that it can report all
// errors of a file together. A machine is built only from a file without errors. Finally, the code
// checks that routes connect all devices and reach every network card. core/text has already
// checked syntax and unknown fields, and Machine finds the routes.

#include "core/cluster/machine_file.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "core/base/file.h"
#include "core/cluster/cards_per_gpu.h"
#include "core/cluster/link_rates.h"
#include "core/proto/machine.pb.h"
#include "core/text/bind.h"
#include "core/text/document.h"
#include "core/text/fields.h"
#include "core/text/limits.h"

namespace tutti::core {
namespace {

std::optional<LinkKind> link_kind(const proto::Link& link) {
  switch (link.kind()) {
    case proto::Link::NVLINK: return LinkKind::kNvlink;
    case proto::Link::PCIE: return LinkKind::kPcie;
    case proto::Link::SOCKET: return LinkKind::kSocket;
    default: return std::nullopt;
  }
}

constexpr int kMaxParts = 4096;

/// True if NCCL's time model has parameters for the GPU (core/nccl/known_gpus.cpp).
bool has_nccl_parameters(GpuModel model) {
  return model != GpuModel::kNone && model != GpuModel::kK80;
}

std::string models_with_nccl_parameters() {
  std::string all;
  for (int m = 1; m <= static_cast<int>(GpuModel::kB200); ++m) {
    const auto model = static_cast<GpuModel>(m);
    if (has_nccl_parameters(model)) all.append(all.empty() ? "" : ", ").append(to_string(model));
  }
  return all;
}

class MachineReader {
 public:
  MachineReader(const proto::Machine& message, const SourceMap& sources, Problems& problems)
      : message_(message), sources_(sources), problems_(problems), fields_(sources, problems) {}

  std::shared_ptr<const Machine> read() {
    const std::size_t before = problems_.size();
    if (message_.name().empty())
      fields_.complain_at(message_, "name", ProblemCode::kMissing, "a machine needs a name");
    for (const proto::Device& device : message_.device()) add_device(device);
    for (const proto::Switch& part : message_.switch_()) add_switch(part);
    for (const proto::Nic& nic : message_.nic()) add_nic(nic);
    if (gpus_ + cpus_ == 0 && message_.device().empty()) {
      fields_.complain_at(
          message_, "device", ProblemCode::kMissing,
          "machine \"{}\" has no device; a worker needs at least one device (device {{ "
          "name: \"gpu0\" kind: GPU … }})",
          message_.name());
    }
    for (const proto::Link& link : message_.link()) {
      if (problems_.full()) break;
      add_link(link);
    }
    for (const proto::Ring& ring : message_.ring()) add_ring(ring);
    if (problems_.size() != before || problems_.full() || !sources_.whole(message_)) return nullptr;
    auto machine =
        std::make_shared<const Machine>(message_.name(), std::move(parts_), std::move(links_),
                                        std::move(rings_inside_), std::move(rings_across_));
    check_routes(*machine);
    const auto cards = static_cast<CardsPerGpu>(message_.cards_per_gpu());
    if (problems_.size() == before && cards != CardsPerGpu::kAsDeclared) {
      auto changed = with_cards(*machine, cards, std::nullopt);
      if (changed) return *changed;
      const Problem& problem = changed.error().problems().front();
      fields_.complain_at(message_, "cards_per_gpu", problem.kind.code, "{}", problem.text);
    }
    return problems_.size() == before ? machine : nullptr;
  }

 private:
  void add_part(const google::protobuf::Message& at, const std::string& pattern, Part part) {
    if (pattern.empty())
      return fields_.complain_at(at, "name", ProblemCode::kMissing, "a part needs a name");
    const auto names = expand_name(pattern);
    if (!names)
      return fields_.complain_at(at, "name", ProblemCode::kUnknownName,
                                 "\"{}\" is not a valid name; a range is written gpu[0-7]",
                                 pattern);
    for (const std::string& name : *names) {
      if (static_cast<int>(parts_.size()) >= kMaxParts) {
        fields_.complain_at(at, "name", ProblemCode::kTooLarge,
                            "a machine may have at most {} parts; \"{}\" exceeds the limit",
                            kMaxParts, name);
        return;
      }
      part.name = name;
      if (!indices_.emplace(name, static_cast<int>(parts_.size())).second) {
        fields_.complain_at(at, "name", ProblemCode::kDuplicate,
                            "\"{}\" is declared twice in machine \"{}\"; names must differ", name,
                            message_.name());
        continue;
      }
      if (part.kind == PartKind::kGpu) ++gpus_;
      if (part.kind == PartKind::kCpu) ++cpus_;
      parts_.push_back(part);
    }
  }

  /// Returns a required rate. If the field is missing or invalid, reports a problem and returns a
  /// placeholder of 1 byte per second.
  Bandwidth rate(const google::protobuf::Message& at, const std::string& field,
                 const std::string& what) {
    const auto gb_per_s = fields_.required(at, field, what, {0, kMaxGbPerS, false});
    return gb_per_s ? bandwidth_from_gb_per_s(std::max(*gb_per_s, kMinGbPerS)) : Bandwidth(1);
  }

  Bandwidth rate_or(const google::protobuf::Message& at, const std::string& field,
                    const std::string& what, Bandwidth otherwise) {
    return fields_.has(at, field) ? rate(at, field, what)
                                  : Bandwidth(std::max<std::int64_t>(1, otherwise.count()));
  }

  [[nodiscard]] const std::string& source_of(const std::string& own) const {
    return own.empty() ? message_.source() : own;
  }

  void add_device(const proto::Device& device) {
    const std::string what = fmt::format("device \"{}\"", device.name());
    Part part;
    part.source = source_of(device.source());
    if (device.kind() == proto::Device::KIND_UNSPECIFIED) {
      fields_.complain_at(device, "kind", ProblemCode::kMissing,
                          "{}: kind is missing; set it to GPU or CPU", what);
    }
    part.kind = device.kind() == proto::Device::CPU ? PartKind::kCpu : PartKind::kGpu;
    part.device.memory = rate(device, "memory_gb_per_s", what);
    part.device.memory_gb = fields_.number(device, "memory_gb", what, {0, 1e9, false}).value_or(0);
    part.device.reduce =
        rate_or(device, "reduce_gb_per_s", what, Bandwidth(part.device.memory.count() / 3));
    part.device.copy =
        rate_or(device, "copy_gb_per_s", what, Bandwidth(part.device.memory.count() / 2));
    part.device.threads =
        static_cast<int>(fields_.integer(device, "threads", what, 1, 1024).value_or(1));
    part.device.multiprocessors =
        static_cast<int>(fields_.integer(device, "multiprocessors", what, 1, 1 << 16).value_or(0));
    if (device.has_multiprocessors() && device.kind() == proto::Device::CPU)
      fields_.complain_at(device, "multiprocessors", ProblemCode::kUnused,
                          "{}: only GPUs have multiprocessors; leave them out", what);
    const bool cpu = device.kind() == proto::Device::CPU;
    part.gpu_model = static_cast<GpuModel>(device.gpu_model());
    part.nearest_gpu_model = static_cast<GpuModel>(device.nearest_gpu_model());
    part.cpu_vendor = static_cast<CpuVendor>(device.cpu_vendor());
    // NVIDIA's driver has no peer access over PCIe for RTX 4090. SOURCE: NVIDIA/nccl issue 1127;
    // tinygrad/open-gpu-kernel-modules, a changed driver that adds it.
    const bool rtx_4090 =
        part.gpu_model == GpuModel::kRtx4090 || part.nearest_gpu_model == GpuModel::kRtx4090;
    part.peer_access = device.has_peer_access() ? device.peer_access() : !rtx_4090;
    if (cpu && device.has_peer_access())
      fields_.complain_at(device, "peer_access", ProblemCode::kUnused,
                          "{}: only GPUs have peer_access; leave it out", what);
    if (cpu && part.gpu_model != GpuModel::kNone)
      fields_.complain_at(device, "gpu_model", ProblemCode::kUnused,
                          "{}: only GPUs have a gpu_model; leave it out", what);
    if (cpu && part.nearest_gpu_model != GpuModel::kNone)
      fields_.complain_at(device, "nearest_gpu_model", ProblemCode::kUnused,
                          "{}: only GPUs have a nearest_gpu_model; leave it out", what);
    if (!cpu && part.nearest_gpu_model != GpuModel::kNone &&
        !has_nccl_parameters(part.nearest_gpu_model))
      fields_.complain_at(device, "nearest_gpu_model", ProblemCode::kUnsupported,
                          "{}: nearest_gpu_model: the NCCL time model has no parameters for {}; "
                          "use one of {}",
                          what, to_string(part.nearest_gpu_model), models_with_nccl_parameters());
    if (part.gpu_model != GpuModel::kNone && part.nearest_gpu_model != GpuModel::kNone)
      fields_.complain_at(
          device, "nearest_gpu_model", ProblemCode::kConflict,
          "{}: gpu_model already states the GPU; nearest_gpu_model is only for GPUs whose model is "
          "not in the list of models; leave one of the two fields out",
          what);
    if (!cpu && part.cpu_vendor != CpuVendor::kNone)
      fields_.complain_at(device, "cpu_vendor", ProblemCode::kUnused,
                          "{}: only CPUs have a cpu_vendor; leave it out", what);
    for (const proto::Flops& flops : device.flops()) {
      if (flops.data_type() == proto::Flops::PRECISION_UNSPECIFIED) {
        fields_.complain_at(flops, "data_type", ProblemCode::kMissing,
                            "{}: flops: data_type is missing", what);
        continue;
      }
      const auto tflops = fields_.required(flops, "tflops", what, {0, 1e9, false});
      if (tflops)
        part.device.flops_per_second[static_cast<Precision>(flops.data_type())] = *tflops * 1e12;
    }
    add_part(device, device.name(), std::move(part));
  }

  void add_switch(const proto::Switch& message) {
    Part part;
    part.source = source_of(message.source());
    if (message.kind() == proto::Switch::KIND_UNSPECIFIED) {
      fields_.complain_at(message, "kind", ProblemCode::kMissing,
                          "switch \"{}\": kind is missing; set it to PCIE_SWITCH or NVSWITCH",
                          message.name());
    }
    part.kind =
        message.kind() == proto::Switch::NVSWITCH ? PartKind::kNvswitch : PartKind::kPcieSwitch;
    part.in_switch_reduction = message.in_switch_reduction();
    add_part(message, message.name(), std::move(part));
  }

  void add_nic(const proto::Nic& nic) {
    Part part;
    part.kind = PartKind::kNic;
    part.source = source_of(nic.source());
    part.nic = rate(nic, "bandwidth_gb_per_s", fmt::format("nic \"{}\"", nic.name()));
    part.transport = static_cast<Transport>(nic.transport());
    part.nic_devices = devices_of(nic);
    add_part(nic, nic.name(), std::move(part));
  }

  int devices_of(const proto::Nic& nic) {
    const std::string what = fmt::format("nic \"{}\"", nic.name());
    const auto devices = fields_.integer(nic, "devices", what, 1, 4).value_or(1);
    if (devices == 3)
      fields_.complain_at(nic, "devices", ProblemCode::kInvalid,
                          "{}: devices must be 1, 2 or 4 (got 3)", what);
    return static_cast<int>(devices);
  }

  /// Returns the devices, switches and cards that the `from` or `to` of a link names. Reports a
  /// problem if a part does not exist.
  std::vector<int> ends(const proto::Link& link, const char* field, const std::string& pattern,
                        const std::string& what) {
    std::vector<int> found;
    const auto names = expand_name(pattern);
    if (pattern.empty() || !names) {
      fields_.complain_at(link, field, "{}: {} must name a part of machine \"{}\" (got \"{}\")",
                          what, field, message_.name(), pattern);
      return found;
    }
    for (const std::string& name : *names) {
      const auto part = indices_.find(name);
      if (part == indices_.end()) {
        std::vector<std::string> known;
        for (const auto& [known_name, index] : indices_) known.push_back(known_name);
        fields_.complain_at(link, field, ProblemCode::kUnknownName,
                            "{}: {} \"{}\" does not exist: machine \"{}\" has no such part{}", what,
                            field, name, message_.name(), did_you_mean(name, known));
        return {};
      }
      found.push_back(part->second);
    }
    return found;
  }

  void add_link(const proto::Link& message) {
    const std::string what = fmt::format("link \"{}\"–\"{}\"", message.from(), message.to());
    MachineLink link;
    link.source = source_of(message.source());
    if (const auto kind = link_kind(message))
      link.kind = *kind;
    else
      fields_.complain_at(message, "kind", ProblemCode::kMissing,
                          "{}: kind is missing; set it to NVLINK, PCIE or SOCKET", what);
    set_rates(message, what, link);
    link.latency = time_from_us(
        fields_.required(message, "latency_us", what, {0, kMaxLatencyUs}, "0 is allowed")
            .value_or(0));
    const std::vector<int> from = ends(message, "from", message.from(), what);
    const std::vector<int> to = ends(message, "to", message.to(), what);
    if (from.empty() || to.empty()) return;
    if (from.size() != to.size() && from.size() != 1 && to.size() != 1) {
      fields_.complain(message, ProblemCode::kConflict,
                       "{}: a range of {} parts cannot be linked to a range of {}; use ranges of "
                       "the same length, or a single part at one end",
                       what, from.size(), to.size());
      return;
    }
    for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
      link.from = from[from.size() == 1 ? 0 : i];
      link.to = to[to.size() == 1 ? 0 : i];
      if (link.from == link.to) {
        fields_.complain_at(message, "to", ProblemCode::kConflict,
                            "{}: a part cannot be linked to itself", what);
        return;
      }
      links_.push_back(link);
      std::swap(link.from, link.to);
      links_.push_back(link);
    }
  }

  /// Sets the bandwidth of a link to the value in the file. Without a value, computes the bandwidth
  /// from the link's lanes and generation. A value above the bandwidth of the lanes is an error.
  void set_rates(const proto::Link& message, const std::string& what, MachineLink& link) {
    if (!message.has_generation()) {
      if (message.has_lanes())
        fields_.complain_at(message, "lanes", ProblemCode::kUnused,
                            "{}: lanes is set without generation; set both", what);
      link.bandwidth = rate(message, "bandwidth_gb_per_s", what);
      return;
    }
    const auto lane = lane_rate(link.kind, message.generation());
    if (!lane) {
      fields_.complain_at(message, "generation",
                          "{}: generation must be 1 to {} for NVLINK or 1 to {} for PCIE, and must "
                          "be unset for SOCKET (got {})",
                          what, kNvlinkGenerations, kPcieGenerations, message.generation());
      return;
    }
    const LaneCount count = lane_count(link.kind);
    const std::int64_t lanes =
        fields_.integer(message, "lanes", what, 1, count.most).value_or(count.usual);
    link.nominal = Bandwidth(lane->nominal.count() * lanes);
    link.bandwidth =
        rate_or(message, "bandwidth_gb_per_s", what, Bandwidth(lane->payload.count() * lanes));
    if (link.bandwidth <= link.nominal) return;
    fields_.complain_at(
        message, "bandwidth_gb_per_s", ProblemCode::kTooLarge,
        "{}: bandwidth of {:g} GB/s exceeds {:g} GB/s, the bandwidth of {} of generation {}", what,
        message.bandwidth_gb_per_s(), to_gb_per_s(link.nominal),
        fmt::format("{} {}", lanes, link.kind == LinkKind::kNvlink ? "NVLinks" : "PCIe lanes"),
        message.generation());
  }

  void add_ring(const proto::Ring& message) {
    RingOrder ring;
    ring.channels =
        static_cast<int>(fields_.integer(message, "channels", "ring", 1, 64).value_or(1));
    ring.gpus.assign(message.gpu().begin(), message.gpu().end());
    std::vector<int> sorted = ring.gpus;
    std::sort(sorted.begin(), sorted.end());
    bool each_once = static_cast<int>(sorted.size()) == gpus_;
    for (int i = 0; each_once && i < gpus_; ++i) each_once = sorted[i] == i;
    if (!each_once) {
      fields_.complain_at(message, "gpu", "ring: gpu must hold each GPU index from 0 to {} once",
                          gpus_ - 1);
      return;
    }
    switch (message.span()) {
      case proto::Ring::ONE_WORKER: rings_inside_.push_back(std::move(ring)); break;
      case proto::Ring::SEVERAL_WORKERS: rings_across_.push_back(std::move(ring)); break;
      default:
        fields_.complain_at(message, "span", ProblemCode::kMissing,
                            "ring: span is missing; set it to ONE_WORKER or SEVERAL_WORKERS");
    }
  }

  void check_routes(const Machine& machine) {
    std::vector<int> ends = machine.gpus();
    ends.insert(ends.end(), machine.cpus().begin(), machine.cpus().end());
    for (const int from : ends) {
      for (const int to : ends) {
        if (machine.route(from, to)) continue;
        fields_.complain_at(message_, "link", ProblemCode::kMissing,
                            "machine \"{}\": no path of links leads from \"{}\" to \"{}\"; connect "
                            "them, for example through a switch or a CPU",
                            machine.name(), machine.parts()[from].name, machine.parts()[to].name);
        return;
      }
    }
    for (const int nic : machine.nics()) {
      if (!ends.empty() && machine.route(ends.front(), nic)) continue;
      fields_.complain_at(message_, "nic", ProblemCode::kMissing,
                          "machine \"{}\": nic {} has no path to a device; add a link",
                          machine.name(), machine.parts()[nic].name);
    }
  }

  const proto::Machine& message_;
  const SourceMap& sources_;
  Problems& problems_;
  Fields fields_;
  std::vector<Part> parts_;
  std::map<std::string, int> indices_;
  std::vector<MachineLink> links_;
  std::vector<RingOrder> rings_inside_, rings_across_;
  int gpus_ = 0;
  int cpus_ = 0;
};

}  // namespace

std::optional<std::vector<std::string>> expand_name(const std::string& pattern) {
  const std::size_t open = pattern.find('[');
  if (open == std::string::npos) {
    if (pattern.find(']') != std::string::npos) return std::nullopt;
    return std::vector<std::string>{pattern};
  }
  int first = 0, last = 0;
  const char* const end = pattern.data() + pattern.size();
  const auto [dash, first_status] = std::from_chars(pattern.data() + open + 1, end, first);
  if (first_status != std::errc() || dash == end || *dash != '-') return std::nullopt;
  const auto [close, last_status] = std::from_chars(dash + 1, end, last);
  if (last_status != std::errc() || close == end || *close != ']') return std::nullopt;
  if (first < 0 || last < first || last - first >= kMaxParts) return std::nullopt;
  std::vector<std::string> names;
  for (int i = first; i <= last; ++i)
    names.push_back(pattern.substr(0, open) + std::to_string(i) + std::string(close + 1, end));
  return names;
}

void spell_out_rates(proto::Machine& machine) {
  for (proto::Link& link : *machine.mutable_link()) {
    const auto kind = link_kind(link);
    const auto lane =
        kind && link.has_generation() ? lane_rate(*kind, link.generation()) : std::nullopt;
    if (!lane) continue;  // nothing to replace, or a mistake that is reported later
    const LaneCount count = lane_count(*kind);
    const int lanes = link.has_lanes() ? link.lanes() : count.usual;
    if (lanes < 1 || lanes > count.most) continue;  // reported later
    if (!link.has_bandwidth_gb_per_s())
      link.set_bandwidth_gb_per_s(to_gb_per_s(Bandwidth(lane->payload.count() * lanes)));
    link.clear_generation();
    link.clear_lanes();
  }
}

std::shared_ptr<const Machine> machine_from(const proto::Machine& message, const SourceMap& sources,
                                            Problems& problems) {
  return MachineReader(message, sources, problems).read();
}

Expected<std::shared_ptr<const Machine>> load_machine(const std::string& path) {
  const Expected<std::string> text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  return read_machine(*text, path);
}

Expected<std::shared_ptr<const Machine>> read_machine(const std::string& text,
                                                      const std::string& path) {
  Problems problems;
  SourceMap sources(path);
  proto::Machine message;
  const Document document = bind_named_file(text, path, message, sources, problems);
  if (document.cut_off) return problems.take();
  std::shared_ptr<const Machine> machine = machine_from(message, sources, problems);
  if (!problems.empty()) return problems.take();
  return machine;
}

}  // namespace tutti::core
