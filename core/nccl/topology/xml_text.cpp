#include "core/nccl/topology/xml_text.h"

#include <algorithm>
#include <charconv>

namespace tutti::core::nccl {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr int kMaxDepth = 128;

template <class Number>
std::optional<Number> read(std::string_view text) {
  Number value{};
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<Number>) {
    read = std::from_chars(text.data(), text.data() + text.size(), value);
  } else {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) text.remove_prefix(2);
    read = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  }
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns the name of an attribute for error messages: "gpu.sm".
std::string name_of(const pugi::xml_node& element, const char* attribute) {
  return fmt::format("{}.{}", element.name(), attribute);
}

class DepthWalker : public pugi::xml_tree_walker {
 public:
  bool for_each(pugi::xml_node&) override { return depth() < kMaxDepth; }
};

}  // namespace

Expected<XmlText> XmlText::parse(std::string_view text, const std::string& file,
                                 const std::string& root) {
  const auto refuse = [](ProblemKind kind, std::string problem, Location where) {
    return tl::unexpected(Error::request(std::move(kind), std::move(problem), std::move(where)));
  };
  if (text.size() > kMaxBytes)
    return refuse({ProblemCode::kTooLarge}, "the file is larger than the limit of 64 MiB",
                  {file, 0, 0});
  XmlText made;
  made.file_ = file;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    made.line_ends_.push_back(static_cast<std::ptrdiff_t>(at));
  made.document_ = std::make_unique<pugi::xml_document>();
  const auto result = made.document_->load_buffer(text.data(), text.size(), pugi::parse_minimal,
                                                  pugi::encoding_utf8);
  if (!result) {
    return refuse({ProblemCode::kSyntax}, fmt::format("no XML: {}", result.description()),
                  made.place(result.offset));
  }
  DepthWalker walker;
  if (!made.document_->traverse(walker))
    return refuse({ProblemCode::kTooLarge},
                  fmt::format("elements are nested deeper than {} levels", kMaxDepth),
                  {file, 0, 0});
  for (const pugi::xml_node& child : made.document_->children()) {
    if (child.type() != pugi::node_element) continue;
    if (made.root_)
      return refuse({ProblemCode::kSyntax},
                    fmt::format("<{}> follows <{}>: expected a single root element", child.name(),
                                made.root_.name()),
                    made.where(child));
    made.root_ = child;
  }
  if (!made.root_)
    return refuse({ProblemCode::kMissing, root},
                  fmt::format("the file has no element: expected <{}>", root), {file, 0, 0});
  if (made.root_.name() != root) {
    return refuse({ProblemCode::kUnknownName, made.root_.name()},
                  fmt::format("<{}>: expected <{}>", made.root_.name(), root),
                  made.where(made.root_));
  }
  Problems problems;
  if (const auto version = made.integer(made.root_, "version", 0, 1'000'000, 1, problems);
      version && *version != 1)
    problems.add({ProblemCode::kUnsupported, root + ".version"}, made.where(made.root_),
                 "version {}: known is 1", *version);
  if (!problems.empty()) return problems.take();
  return made;
}

Location XmlText::place(std::ptrdiff_t offset) const {
  const auto line = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset);
  const std::ptrdiff_t begin = line == line_ends_.begin() ? 0 : *std::prev(line) + 1;
  return {file_, static_cast<int>(line - line_ends_.begin()) + 1,
          static_cast<int>(offset - begin) + 1};
}

std::optional<std::string> XmlText::text(const pugi::xml_node& element, const char* attribute,
                                         Problems& problems) const {
  if (const pugi::xml_attribute found = element.attribute(attribute)) return found.value();
  problems.add({ProblemCode::kMissing, name_of(element, attribute)}, where(element),
               "<{}> has no {}", element.name(), attribute);
  return std::nullopt;
}

template <class Number>
std::optional<Number> XmlText::number(const pugi::xml_node& element, const char* attribute,
                                      Number least, Number most, Problems& problems) const {
  const auto written = text(element, attribute, problems);
  if (!written) return std::nullopt;
  const auto value = read<Number>(*written);
  if (value && *value >= least && *value <= most) return value;
  const ProblemCode code = value && *value < least  ? ProblemCode::kTooSmall
                           : value && *value > most ? ProblemCode::kTooLarge
                                                    : ProblemCode::kWrongType;
  problems.add({code, name_of(element, attribute)}, where(element),
               "<{} {}=\"{}\">: expected a number from {} to {}", element.name(), attribute,
               *written, least, most);
  return std::nullopt;
}

std::optional<std::int64_t> XmlText::integer(const pugi::xml_node& element, const char* attribute,
                                             std::int64_t least, std::int64_t most,
                                             Problems& problems) const {
  return number(element, attribute, least, most, problems);
}

std::optional<std::int64_t> XmlText::integer(const pugi::xml_node& element, const char* attribute,
                                             std::int64_t least, std::int64_t most,
                                             std::int64_t missing, Problems& problems) const {
  if (!element.attribute(attribute)) return missing;
  return integer(element, attribute, least, most, problems);
}

std::optional<float> XmlText::real(const pugi::xml_node& element, const char* attribute,
                                   float least, float most, std::optional<float> missing,
                                   Problems& problems) const {
  if (missing && !element.attribute(attribute)) return missing;
  return number(element, attribute, least, most, problems);
}

std::optional<std::uint64_t> bus_number(std::string_view text) {
  std::uint64_t number = 0;
  int digits = 0;
  for (const char c : text) {
    if (c == '.' || c == ':') continue;
    std::uint64_t digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<std::uint64_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<std::uint64_t>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<std::uint64_t>(c - 'A' + 10);
    else
      break;
    number = number << 4 | digit;
    if (++digits > 16) return std::nullopt;
  }
  if (digits == 0) return std::nullopt;
  return number;
}

}  // namespace tutti::core::nccl
