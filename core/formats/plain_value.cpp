// A pickle is a program for a virtual machine with a stack, a memo and some 60 instructions. The
// instructions that build plain values are executed. The instructions that import or call Python
// objects are not executed.

#include "core/formats/plain_value.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "core/base/number.h"
#include "core/formats/decimal.h"
#include "core/formats/json_stream.h"

namespace tutti::core {
namespace {

constexpr std::size_t kMaxValues = 8'000'000;
constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

class JsonDocument {
 public:
  JsonDocument(std::string_view bytes, const std::string& name, PlainDocument& document)
      : input_(byte_input_of(bytes, name)), in_(*input_, name), document_(document) {}

  Expected<void> read() {
    document_.root = value(0);
    if (in_.failed()) return tl::make_unexpected(in_.error());
    if (!in_.at_end())
      in_.fail({ProblemCode::kSyntax}, "unexpected data after the end of the dump");
    if (in_.failed()) return tl::make_unexpected(in_.error());
    return {};
  }

 private:
  PlainValue* made() {
    if (document_.values.size() >= kMaxValues)
      in_.fail({ProblemCode::kTooLarge}, "this dump has too many values");
    return &document_.values.emplace_back();
  }

  const PlainValue* value(int depth) {
    PlainValue* v = made();
    if (in_.failed()) return v;
    constexpr int kDeepestValue = 64;
    switch (in_.peek()) {
      case JsonStream::Kind::kObject:
        v->kind = PlainValue::Kind::kDict;
        if (depth > kDeepestValue)
          in_.fail({ProblemCode::kTooLarge}, "values are nested too deeply here");
        if (!in_.enter_object()) break;
        while (const auto key = in_.next_key()) {
          std::string name(*key);
          const PlainValue* item = value(depth + 1);
          v->fields.emplace_back(std::move(name), item);
        }
        break;
      case JsonStream::Kind::kArray:
        v->kind = PlainValue::Kind::kList;
        if (depth > kDeepestValue)
          in_.fail({ProblemCode::kTooLarge}, "values are nested too deeply here");
        if (!in_.enter_array()) break;
        while (in_.next_item()) v->items.push_back(value(depth + 1));
        break;
      case JsonStream::Kind::kString:
        v->kind = PlainValue::Kind::kText;
        v->text = in_.scalar();
        break;
      case JsonStream::Kind::kNumber: {
        const std::string text(in_.scalar());
        if (const auto whole = whole_number<std::int64_t>(text)) {
          v->kind = PlainValue::Kind::kInteger;
          v->integer = *whole;
        } else if (const auto real = number_of(text)) {
          v->kind = PlainValue::Kind::kReal;
          v->real = *real;
        }
        break;
      }
      case JsonStream::Kind::kWord: {
        const std::string_view word = in_.scalar();
        if (word != "true" && word != "false") break;
        v->kind = PlainValue::Kind::kBool;
        v->integer = word == "true" ? 1 : 0;
        break;
      }
      case JsonStream::Kind::kEnd: in_.skip(); break;  // skip() reports the error
    }
    return v;
  }

  std::unique_ptr<ByteInput> input_;
  JsonStream in_;
  PlainDocument& document_;
};

class PickleMachine {
 public:
  PickleMachine(std::string_view bytes, std::string name, PlainDocument& document)
      : bytes_(bytes), name_(std::move(name)), document_(document) {}

  Expected<void> read() {
    while (!error_ && document_.root == nullptr) step();
    if (error_) return tl::make_unexpected(*error_);
    return {};
  }

 private:
  using Kind = PlainValue::Kind;

  void fail(ProblemCode code, const std::string& text) {
    if (error_) return;
    error_ = Error::request({code}, fmt::format("byte {}: {}", opcode_at_, text), {name_, 0, 0});
  }
  /// Returns the next `count` bytes. If fewer remain, reports an error and returns an empty text.
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) {
      fail(ProblemCode::kSyntax,
           "the file ends in the middle of a value; it is truncated, or still being written");
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }
  std::uint64_t little(int count) {
    std::uint64_t number = 0;
    const std::string_view taken = take(static_cast<std::uint64_t>(count));
    for (std::size_t i = taken.size(); i-- > 0;)
      number = number << 8 | static_cast<unsigned char>(taken[i]);
    return number;
  }
  std::string_view text_line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) {
      fail(ProblemCode::kSyntax,
           "the file ends in the middle of a value; it is truncated, or still being written");
      return {};
    }
    const std::string_view line = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }

  PlainValue* push(Kind kind) {
    if (document_.values.size() >= kMaxValues)
      fail(ProblemCode::kTooLarge, "this dump has too many values");
    PlainValue* made = &document_.values.emplace_back();
    made->kind = kind;
    stack_.push_back(made);
    return made;
  }
  void push_integer(std::int64_t number) { push(Kind::kInteger)->integer = number; }
  void push_text(std::string_view text) { push(Kind::kText)->text = text; }
  PlainValue* pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) {
      fail(ProblemCode::kSyntax, "this is not a valid pickle file: an instruction has no operand");
      return push(Kind::kNone);
    }
    PlainValue* top = stack_.back();
    stack_.pop_back();
    return top;
  }
  /// Pops and returns the values that were pushed since the last mark.
  std::vector<PlainValue*> pop_to_mark() {
    if (marks_.empty()) {
      fail(ProblemCode::kSyntax,
           "this is not a valid pickle file: an instruction refers to a mark that is missing");
      return {};
    }
    const auto from = stack_.begin() + marks_.back();
    std::vector<PlainValue*> items(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return items;
  }
  PlainValue* top() {
    PlainValue* value = pop();
    stack_.push_back(value);
    return value;
  }

  void tuple(std::size_t size) {
    std::vector<const PlainValue*> items(size);
    for (std::size_t i = size; i-- > 0;) items[i] = pop();
    push(Kind::kList)->items = std::move(items);
  }
  static std::string key_of(const PlainValue& key) {
    if (key.kind == Kind::kText) return key.text;
    if (key.kind == Kind::kInteger || key.kind == Kind::kBool) return std::to_string(key.integer);
    return "";
  }
  void set_items(PlainValue* dict, const std::vector<PlainValue*>& items) {
    // The object of a class that is not imported becomes a dict.
    if (dict->kind != Kind::kDict) dict->kind = Kind::kDict;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
      dict->fields.emplace_back(key_of(*items[i]), items[i + 1]);
  }
  void append(PlainValue* list, PlainValue* item) {
    if (list->kind != Kind::kList) list->kind = Kind::kList;
    list->items.push_back(item);
  }
  void remember(std::uint64_t where) {
    if (memo_.size() >= kMaxValues)
      return fail(ProblemCode::kTooLarge, "this dump has too many values");
    memo_[where] = top();
  }
  void recall(std::uint64_t where) {
    const auto known = memo_.find(where);
    if (known == memo_.end())
      return fail(ProblemCode::kSyntax,
                  "this is not a valid pickle file: it reads a memo entry that was never written");
    if (stack_.size() >= kMaxValues)
      return fail(ProblemCode::kTooLarge, "this dump has too many values");
    stack_.push_back(known->second);
  }
  /// Replaces a call by a value, because calls are not executed. If the call has one argument, this
  /// argument is the value, because many classes wrap one list or dict. A call with no or several
  /// arguments is replaced by None.
  void call() {
    PlainValue* arguments = pop();
    pop();
    if (arguments->kind == Kind::kList && arguments->items.size() == 1) {
      // The cast is valid, because the value belongs to the document that this reader is building.
      stack_.push_back(const_cast<PlainValue*>(arguments->items.front()));
    } else {
      push(Kind::kNone);
    }
  }
  void long_number(std::uint64_t size) {
    const std::string_view digits = take(size);
    std::uint64_t number = 0;
    for (std::size_t i = std::min<std::size_t>(digits.size(), 8); i-- > 0;)
      number = number << 8 | static_cast<unsigned char>(digits[i]);
    if (!digits.empty() && digits.size() < 8 &&
        (static_cast<unsigned char>(digits.back()) & 0x80) != 0)
      number |= ~std::uint64_t{0} << (8 * digits.size());
    push_integer(static_cast<std::int64_t>(number));
  }

  void step() {
    opcode_at_ = at_;
    const std::string_view code = take(1);
    if (error_) return;
    switch (static_cast<unsigned char>(code[0])) {
      case 0x80: take(1); return;                // PROTO
      case 0x95: take(8); return;                // FRAME
      case '.': document_.root = pop(); return;  // STOP
      case '(': mark(); return;                  // MARK
      case '0': pop(); return;                   // POP
      case '1': pop_to_mark(); return;           // POP_MARK
      case '2': recall_top(); return;            // DUP
      case '}': push(Kind::kDict); return;       // EMPTY_DICT
      case ']': push(Kind::kList); return;       // EMPTY_LIST
      case 0x8f: push(Kind::kList); return;      // EMPTY_SET
      case ')': push(Kind::kList); return;       // EMPTY_TUPLE
      case 't':
      case 'l':
      case 0x91: {  // TUPLE, LIST, FROZENSET
        const auto items = pop_to_mark();
        push(Kind::kList)->items.assign(items.begin(), items.end());
        return;
      }
      case 'd': {  // DICT
        const auto items = pop_to_mark();
        set_items(push(Kind::kDict), items);
        return;
      }
      case 0x85: tuple(1); return;  // TUPLE1 to TUPLE3
      case 0x86: tuple(2); return;
      case 0x87: tuple(3); return;
      case 's': {  // SETITEM
        PlainValue* value = pop();
        PlainValue* key = pop();
        set_items(top(), {key, value});
        return;
      }
      case 'u': {  // SETITEMS
        const auto items = pop_to_mark();
        set_items(top(), items);
        return;
      }
      case 'a': {  // APPEND
        PlainValue* item = pop();
        append(top(), item);
        return;
      }
      case 'e':
      case 0x90: {  // APPENDS, ADDITEMS
        const auto items = pop_to_mark();
        PlainValue* list = top();
        for (PlainValue* item : items) append(list, item);
        return;
      }
      case 'N': push(Kind::kNone); return;                                   // NONE
      case 0x88: push(Kind::kBool)->integer = 1; return;                     // NEWTRUE
      case 0x89: push(Kind::kBool)->integer = 0; return;                     // NEWFALSE
      case 'K': push_integer(static_cast<std::int64_t>(little(1))); return;  // BININT1
      case 'M': push_integer(static_cast<std::int64_t>(little(2))); return;  // BININT2
      case 'J': push_integer(static_cast<std::int32_t>(little(4))); return;  // BININT
      case 0x8a: long_number(little(1)); return;                             // LONG1
      case 0x8b: long_number(little(4)); return;                             // LONG4
      case 'I':
      case 'L': {  // INT, LONG, of protocol 0
        std::string_view line = text_line();
        if (line.ends_with('L')) line.remove_suffix(1);
        push_integer(whole_number<std::int64_t>(line).value_or(0));
        return;
      }
      case 'G': {  // BINFLOAT, big endian
        std::uint64_t bits = 0;
        for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
        push(Kind::kReal)->real = std::bit_cast<double>(bits);
        return;
      }
      case 'F':
        push(Kind::kReal)->real = number_of(std::string(text_line())).value_or(0);
        return;  // FLOAT
      case 'X':
      case 'T':
      case 'B': push_text(take(little(4))); return;  // BINUNICODE, BINSTRING, BINBYTES
      case 0x8c:
      case 'U':
      case 'C': push_text(take(little(1))); return;  // the same of up to 255 bytes
      case 0x8d:
      case 0x8e:
      case 0x96: push_text(take(little(8))); return;  // the same of any length
      case 'V': push_text(text_line()); return;       // UNICODE
      case 'S': {                                     // STRING, in quotes
        std::string_view line = text_line();
        if (line.size() >= 2) line = line.substr(1, line.size() - 2);
        push_text(line);
        return;
      }
      case 'q': remember(little(1)); return;  // BINPUT
      case 'r': remember(little(4)); return;  // LONG_BINPUT
      case 'p': remember(whole_number<std::uint64_t>(text_line()).value_or(0)); return;  // PUT
      case 0x94: remember(memo_.size()); return;                                         // MEMOIZE
      case 'h': recall(little(1)); return;                                               // BINGET
      case 'j': recall(little(4)); return;  // LONG_BINGET
      case 'g': recall(whole_number<std::uint64_t>(text_line()).value_or(0)); return;  // GET
      case 'c': text_line(), text_line(), push(Kind::kNone); return;                   // GLOBAL
      case 0x93: pop(), pop(), push(Kind::kNone); return;  // STACK_GLOBAL
      case 'R':
      case 0x81: call(); return;  // REDUCE, NEWOBJ
      case 'b': pop(); return;    // BUILD
      default:
        fail(ProblemCode::kUnsupported,
             "this pickle file creates objects, which Tutti does not read; only plain types are "
             "supported");
    }
  }
  void mark() {
    if (marks_.size() >= kMaxValues)
      return fail(ProblemCode::kTooLarge, "this dump has too many values");
    marks_.push_back(stack_.size());
  }
  void recall_top() {
    PlainValue* value = top();
    if (stack_.size() < kMaxValues) stack_.push_back(value);
  }

  std::string_view bytes_;
  std::string name_;
  PlainDocument& document_;
  std::size_t at_ = 0, opcode_at_ = 0;
  std::vector<PlainValue*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, PlainValue*> memo_;
  std::optional<Error> error_;
};

}  // namespace

std::int64_t PlainValue::number(std::string_view name, std::int64_t otherwise) const {
  const PlainValue* value = field(name);
  if (value == nullptr) return otherwise;
  switch (value->kind) {
    case Kind::kInteger:
    case Kind::kBool: return value->integer;
    case Kind::kReal:
      return std::abs(value->real) < 9e18 ? static_cast<std::int64_t>(value->real) : otherwise;
    case Kind::kText: return whole_number<std::int64_t>(value->text).value_or(otherwise);
    default: return otherwise;
  }
}

std::string_view PlainValue::words(std::string_view name) const {
  const PlainValue* value = field(name);
  return value != nullptr && value->kind == Kind::kText ? std::string_view(value->text)
                                                        : std::string_view();
}

Expected<PlainDocument> read_plain_document(ByteInput& input, const std::string& name) {
  std::string bytes;
  std::string piece(std::size_t{1} << 18, '\0');
  while (true) {
    const auto got = input.read(piece.data(), piece.size());
    if (!got) return tl::make_unexpected(got.error());
    if (*got == 0) break;
    bytes.append(piece, 0, *got);
    if (bytes.size() > kMaxBytes)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kTooLarge}, "this dump exceeds the limit of 256 MiB", {name, 0, 0}));
  }
  PlainDocument document;
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && (bytes[first] == '{' || bytes[first] == '[');
  const auto read = is_json ? JsonDocument(bytes, name, document).read()
                            : PickleMachine(bytes, name, document).read();
  if (!read) return tl::make_unexpected(read.error());
  return document;
}

}  // namespace tutti::core
