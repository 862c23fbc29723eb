// Converts the text of a scenario in an older form: moves each old field into the message in which
// it belongs in the current form. core/scenario/old_form.h determines the order of the fields and
// their new messages. The first field stays where it is and gets its new enclosing messages:
//
//   communication_options { implementation: NCCL }     tensorflow {
//   launch_us: 5                                   →     multi_worker_mirrored {
//   hints { bytes_per_pack: 0 }  # of the call             communication_options {
//                                                            implementation: NCCL
//                                                            hints { bytes_per_pack: 0 }
//                                                          }
//                                                        }
//                                                      }
//                                                      launch_us: 5
//
// All further fields are removed from their old places and appended to these messages.
#include "core/edit/old_form_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/edit/field_edits.h"

namespace tutti::core {
namespace {

const Schema& scenario_schema() {
  static const Schema made = Schema::scenario();
  return made;
}

/// A changed text, with the offset in the original text from which each byte comes.
struct TracedText {
  std::string text;
  std::vector<std::size_t> origins;

  static TracedText of(std::string text, std::size_t origin) {
    std::vector<std::size_t> origins(text.size(), origin);
    return {std::move(text), std::move(origins)};
  }
  [[nodiscard]] TracedText slice(std::size_t from, std::size_t to) const {
    return {text.substr(from, to - from), {origins.begin() + at(from), origins.begin() + at(to)}};
  }
  void erase(std::size_t from, std::size_t count) {
    text.erase(from, count);
    origins.erase(origins.begin() + at(from), origins.begin() + at(from + count));
  }
  void insert(std::size_t where, const TracedText& piece) {
    text.insert(where, piece.text);
    origins.insert(origins.begin() + at(where), piece.origins.begin(), piece.origins.end());
  }
  /// Appends new bytes, whose origin is set to that of the first byte of this text.
  void add(const std::string& made) {
    const std::size_t origin = origins.empty() ? 0 : origins.front();
    insert(text.size(), of(made, origin));
  }
  void add(const TracedText& piece) { insert(text.size(), piece); }

 private:
  static std::ptrdiff_t at(std::size_t offset) { return static_cast<std::ptrdiff_t>(offset); }
};

/// In all lines that begin with the indentation of the first line, replaces this indentation by
/// `margin`.
TracedText with_margin(const TracedText& lines, const std::string& margin) {
  const std::size_t first = std::min(lines.text.find_first_not_of(" \t"), lines.text.size());
  const std::string was = lines.text.substr(0, first);
  TracedText made;
  for (std::size_t from = 0; from < lines.text.size();) {
    const std::size_t newline = lines.text.find('\n', from);
    const std::size_t to = newline == std::string::npos ? lines.text.size() : newline + 1;
    const bool blank = lines.text.find_first_not_of(" \t\r\n", from) >= to;
    const bool known = !blank && lines.text.compare(from, was.size(), was) == 0;
    if (known) made.add(TracedText::of(margin, lines.origins[from]));
    const std::size_t rest = blank   ? lines.text.find_first_of("\r\n", from)
                             : known ? from + was.size()
                                     : from;
    made.add(lines.slice(std::min(rest, to), to));
    from = to;
  }
  return made;
}

class FieldMover {
 public:
  FieldMover(TracedText& traced, const NextMove& next, bool last)
      : traced_(traced),
        scenario_(traced.text, scenario_schema()),
        text_(scenario_.text()),
        next_(next),
        last_(last),
        strategy_(scenario_.root().fields[next.strategy].value),
        field_(strategy_.fields[next.field]),
        from_(offset(field_.at)),
        to_(std::max(from_, offset(field_.value.end))) {}

  void move() {
    if (next_.dropped) return take_out();
    std::vector<std::string> parts = parts_of(next_.row->now);
    const std::string name = std::exchange(parts.back(), "");
    parts.pop_back();
    const Value* inside = &strategy_;
    while (!parts.empty()) {
      const Value* const deeper = message_at(*inside, parts.front());
      if (!deeper) break;
      inside = deeper;
      parts.erase(parts.begin());
    }
    if (inside == &strategy_) return wrap(parts);
    append(*inside, parts, name);
  }

 private:
  [[nodiscard]] std::size_t offset(Position at) const { return scenario_.places().offset(at); }
  [[nodiscard]] bool json() const { return scenario_.json(); }
  [[nodiscard]] std::size_t line_begin(std::size_t at) const {
    return at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;
  }
  [[nodiscard]] std::size_t line_end(std::size_t at) const {
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    return end > at && text_[end - 1] == '\r' ? end - 1 : end;
  }
  [[nodiscard]] std::size_t next_line(std::size_t at) const {
    const std::size_t end = text_.find('\n', at);
    return end == std::string::npos ? text_.size() : end + 1;
  }
  [[nodiscard]] bool blank(std::size_t from, std::size_t to) const {
    return text_.find_first_not_of(" \t", from) >= to;
  }
  [[nodiscard]] std::string margin(std::size_t at) const {
    const std::size_t from = line_begin(at);
    return text_.substr(from, std::min(text_.find_first_not_of(" \t", from), text_.size()) - from);
  }
  [[nodiscard]] std::string line_break() const {
    return text_.find("\r\n") == std::string::npos ? "\n" : "\r\n";
  }
  [[nodiscard]] std::string opening(const std::string& name) const {
    return json() ? "\"" + name + "\": {" : name + " {";
  }

  /// True if no other field is on the field's lines. A ',' or ';' and a comment may follow the
  /// field.
  [[nodiscard]] bool has_own_lines() const {
    if (!blank(line_begin(from_), from_)) return false;
    std::size_t rest = text_.find_first_not_of(" \t", to_);
    if (rest < text_.size() && (text_[rest] == ',' || text_[rest] == ';'))
      rest = text_.find_first_not_of(" \t", rest + 1);
    return rest >= line_end(to_) || (text_[rest] == '#' && !json());
  }

  void take_out() {
    const TextEdits edits = without_field(scenario_, strategy_, field_);
    for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
      traced_.erase(edit->at, edit->removed);
  }

  /// Adds the enclosing messages `parts` around the field, without moving the field.
  void wrap(const std::vector<std::string>& parts) {
    const bool one_line = text_.find('\n', from_) >= to_;
    if (has_own_lines() && !(one_line && last_)) return wrap_in_lines(parts);
    std::string open, close;
    for (const std::string& part : parts) {
      open += opening(part) + (json() ? "" : " ");
      close += json() ? "}" : " }";
    }
    traced_.insert(to_, TracedText::of(close, traced_.origins[from_]));
    traced_.insert(from_, TracedText::of(open, traced_.origins[from_]));
  }

  void wrap_in_lines(const std::vector<std::string>& parts) {
    const std::size_t first = line_begin(from_);
    // In JSON, the comma after the field must come after the new closing brackets.
    const std::size_t end = json() ? to_ : line_end(to_);
    const std::string outer = margin(from_);
    const std::size_t origin = traced_.origins[from_];
    TracedText made;
    std::string inner = outer;
    for (const std::string& part : parts) {
      made.add(TracedText::of(inner + opening(part) + line_break(), origin));
      inner += "  ";
    }
    made.add(with_margin(traced_.slice(first, end), inner));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      inner.resize(inner.size() - 2);
      made.add(TracedText::of(line_break() + inner + "}", origin));
    }
    traced_.erase(first, end - first);
    traced_.insert(first, made);
  }

  /// Moves the field to the end of the existing message `inside`. The messages `parts` are created
  /// around the field.
  void append(const Value& inside, const std::vector<std::string>& parts, const std::string& name) {
    const bool own_lines = has_own_lines() && !json();
    std::size_t first = from_, end = to_;
    if (own_lines) {
      first = line_begin(from_);
      end = next_line(to_);
      // Comments directly above the field are moved with it.
      while (first > 0) {
        const std::size_t above = line_begin(first - 1);
        const std::size_t begin = text_.find_first_not_of(" \t", above);
        if (begin >= first || text_[begin] != '#') break;
        first = above;
      }
    }
    TracedText piece = traced_.slice(first, end);
    rename(piece, from_ - first, name);
    // Edit the later position first, so that the offset of the earlier position stays valid.
    const std::size_t close = offset(inside.end) - 1;
    if (close < from_) {
      remove(first, end, own_lines);
      put(inside, close, piece, own_lines, parts);
    } else {
      put(inside, close, piece, own_lines, parts);
      remove(first, end, own_lines);
    }
  }

  void rename(TracedText& piece, std::size_t at, const std::string& name) const {
    if (is_field_name(field_.name, name)) return;
    if (piece.text.compare(at, 1, "\"") == 0) ++at;
    const std::size_t origin = piece.origins[at];
    piece.erase(at, field_.name.size());
    piece.insert(at, TracedText::of(name, origin));
  }

  void remove(std::size_t first, std::size_t end, bool own_lines) {
    if (own_lines) return traced_.erase(first, end - first);
    take_out();
  }

  void put(const Value& inside, std::size_t close, TracedText piece, bool own_lines,
           const std::vector<std::string>& parts) {
    const std::size_t origin = piece.origins.front();
    // True if the closing bracket is the first character of its line.
    const bool in_lines = blank(line_begin(close), close);
    const bool has_remark = own_lines && piece.text.find('#') != std::string::npos;
    std::string text = piece.text;
    while (!text.empty() &&
           std::string_view(" \t\r\n,;").find(text.back()) != std::string_view::npos)
      text.pop_back();
    if (!has_remark) piece = piece.slice(0, text.size());
    if (own_lines && !has_remark && !in_lines)
      piece = piece.slice(piece.text.find_first_not_of(" \t"), text.size());
    const bool one_line = piece.text.find('\n') == std::string::npos;
    if (!in_lines && one_line && !has_remark) {
      std::string open, shut;
      for (const std::string& part : parts) {
        open += opening(part) + (json() ? "" : " ");
        shut += json() ? "}" : " }";
      }
      TracedText made = TracedText::of(
          inside.fields.empty() ? (json() ? "" : " ") : (json() ? ", " : " "), origin);
      made.add(TracedText::of(open, origin));
      made.add(piece);
      made.add(TracedText::of(shut, origin));
      std::size_t at = close;
      while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
      if (at == close && !json()) made.add(TracedText::of(" ", origin));
      return traced_.insert(at, made);
    }
    put_in_lines(inside, close, std::move(piece), in_lines, parts);
  }

  void put_in_lines(const Value& inside, std::size_t close, TracedText piece, bool in_lines,
                    const std::vector<std::string>& parts) {
    const std::size_t origin = piece.origins.front();
    const std::string outer = margin(in_lines ? close : offset(inside.at));
    std::string inner = outer + "  ";
    TracedText made;
    for (const std::string& part : parts) {
      made.add(TracedText::of(inner + opening(part) + line_break(), origin));
      inner += "  ";
    }
    // If the field began in the middle of a line, its first line has no indentation, so add that of
    // its line.
    if (piece.text.find_first_not_of(" \t") == 0)
      piece.insert(0, TracedText::of(margin(from_), origin));
    made.add(with_margin(piece, inner));
    while (!made.text.empty() && (made.text.back() == '\n' || made.text.back() == '\r'))
      made = made.slice(0, made.text.size() - 1);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      inner.resize(inner.size() - 2);
      made.add(TracedText::of(line_break() + inner + "}", origin));
    }
    if (json() && !inside.fields.empty()) {
      const std::size_t behind = offset(inside.fields.back().value.end);
      TracedText with_comma = TracedText::of("," + line_break(), origin);
      with_comma.add(made);
      if (!in_lines) with_comma.add(TracedText::of(line_break() + outer, origin));
      return traced_.insert(behind, with_comma);
    }
    if (in_lines) {
      made.add(TracedText::of(line_break(), origin));
      return traced_.insert(line_begin(close), made);
    }
    TracedText broken = TracedText::of(line_break(), origin);
    broken.add(made);
    broken.add(TracedText::of(line_break() + outer, origin));
    std::size_t at = close;
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
    traced_.insert(at, broken);
    // Remove the spaces that were before the closing bracket; they are now after the inserted
    // lines.
    if (close > at) traced_.erase(at + broken.text.size(), close - at);
  }

  TracedText& traced_;
  const ScenarioText scenario_;
  const std::string& text_;
  const NextMove& next_;
  bool last_;
  const Value& strategy_;
  const Value::Field& field_;
  std::size_t from_;
  std::size_t to_;
};

}  // namespace

std::optional<ConvertedText> convert_text(const std::string& text) {
  Problems problems;
  Document document = parse_document(text, "", problems);
  if (!problems.empty() || document.cut_off || !next_move(document.root)) return std::nullopt;
  ConvertedText made;
  made.moved = bring_up_to_date(document.root);
  TracedText traced = TracedText::of(text, 0);
  for (std::size_t i = 0; i < traced.origins.size(); ++i) traced.origins[i] = i;
  const bool one = made.moved.size() == 1;
  for (std::size_t moves = 0; moves < made.moved.size(); ++moves) {
    Problems none;
    const Document now = parse_document(traced.text, "", none);
    const auto next = next_move(now.root);
    if (!none.empty() || !next) break;
    FieldMover(traced, *next, one).move();
  }
  made.text = std::move(traced.text);
  made.origins = std::move(traced.origins);
  return made;
}

namespace {

void add_content(const Value& value, const std::string& path,
                 std::multimap<std::string, std::string>& content) {
  if (value.kind == Value::Kind::kMessage) {
    content.emplace(path, "{}");
    for (const Value::Field& field : value.fields)
      add_content(field.value, path + "." + field.name, content);
  } else if (value.kind == Value::Kind::kList) {
    for (const Value& item : value.items) add_content(item, path, content);
  } else {
    content.emplace(path, value.text);
  }
}

std::multimap<std::string, std::string> content_of(const std::string& text) {
  Problems problems;
  std::multimap<std::string, std::string> content;
  add_content(parse_scenario(text, "", problems).root, "", content);
  return content;
}

}  // namespace

bool have_equal_values(const std::string& text, const std::string& other) {
  return content_of(text) == content_of(other);
}

std::string old_form_warning(const std::string& text, const std::string& path) {
  const auto converted = convert_text(text);
  if (!converted) return "";
  std::string message;
  for (const MovedValue& value : converted->moved)
    message += fmt::format(
        "{}:{}:{}: warning: {} is {}\n", path, value.at.line, value.at.column, value.was,
        value.now.empty() ? "omitted, because another field sets the packing" : "now " + value.now);
  const ScenarioText now(converted->text, scenario_schema());
  if (const auto place = now.place({{"strategy", 0}, {"tensorflow", 0}})) {
    const std::size_t from = now.places().offset(place->field->at),
                      to = now.range(*place->value).to;
    const std::size_t line = from == 0 ? 0 : converted->text.rfind('\n', from - 1) + 1;
    const std::string margin = converted->text.substr(line, from - line);
    std::string lines = converted->text.substr(from, to - from);
    // Remove the indentation that the lines have in the text.
    if (margin.find_first_not_of(" \t") == std::string::npos) {
      for (std::size_t at = lines.find("\n" + margin); at != std::string::npos;
           at = lines.find("\n" + margin, at + 1))
        lines.erase(at + 1, margin.size());
    }
    message += "write in the strategy:\n";
    std::size_t begin = 0;
    while (begin < lines.size()) {
      const std::size_t end = std::min(lines.find('\n', begin), lines.size());
      message += "  " + lines.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
  }
  return message + fmt::format(
                       "later releases will not read this older form; rewrite the file with `tutti "
                       "convert {}`\n",
                       path);
}

FieldPath present_path(const FieldPath& path, const ScenarioText* text) {
  if (path.size() < 2 || path.front().field != "strategy") return path;
  const Value* const strategy = text ? text->find({path.front()}) : nullptr;
  for (const MovedField& row : moved_fields()) {
    if (row.was != path[1].field || row.now.empty()) continue;
    if (!row.beside.empty() && !(strategy && message_at(*strategy, row.beside))) continue;
    FieldPath now{path.front()};
    for (const std::string& part : parts_of(row.now)) now.push_back({part, 0});
    now.insert(now.end(), path.begin() + 2, path.end());
    return now;
  }
  return path;
}

}  // namespace tutti::core
