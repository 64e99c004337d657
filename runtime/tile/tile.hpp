// C++ over rt.h, tile.h and jit.h: destructors, exceptions and types, nothing else. C++11 and later, header only. A
// program that uses only devices, memory, streams, loaded kernels and packages links libtile-rt, any other libtile.
//
//   tile::Device device;
//   tile::Buffer<float> x(device, n), y(device, n), out(device, n);
//   tile::Jit jit(device, "vector_add.tile");
//   auto add = jit.kernel("add");
//   add.launch({blocks, 1, 1}, x, y, out, n, 1024);
//
// Objects can be moved but not copied, except for JitKernel and Variant, which belong to their Jit. What an object is
// made from (a device, a program, a package) must outlive it, as the headers say. A moved-from object may only be
// assigned to or destroyed.
#ifndef TILE_TILE_HPP
#define TILE_TILE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tile/jit.h"

namespace tile {

// ---- errors ----

inline std::string text_of(const char *s) { return s ? s : ""; }

struct Fixit {
  std::string file, text;
  std::uint32_t line, column, end_line, end_column;
};
struct Diagnostic {
  tile_level level;
  int note_of;                 // the index of the diagnostic that it is a note of; -1: none
  std::string file, text, name;
  std::uint32_t line, column, end_line, end_column;
  std::vector<Fixit> fixits;
};

// Those of an error or a program, by its two functions.
template <class From>
std::vector<Diagnostic> diagnostics_of(const From *from, bool (*get)(const From *, std::size_t, tile_diagnostic *),
                                       bool (*get_fixit)(const From *, std::size_t, std::size_t, tile_fixit *)) {
  std::vector<Diagnostic> all;
  tile_diagnostic d = TILE_DIAGNOSTIC_INIT;
  for (std::size_t i = 0; get(from, i, &d); i++) {
    all.push_back(Diagnostic{d.level, d.note_of, text_of(d.file), text_of(d.text), text_of(d.name), d.line, d.column,
                             d.end_line, d.end_column, {}});
    tile_fixit f = TILE_FIXIT_INIT;
    for (std::size_t k = 0; get_fixit(from, i, k, &f); k++)
      all.back().fixits.push_back(Fixit{text_of(f.file), text_of(f.text), f.line, f.column, f.end_line, f.end_column});
  }
  return all;
}

class Error : public std::runtime_error {
public:
  Error(tile_status s, tile_error *e)   // owns e
      : std::runtime_error(e ? tile_error_message(e) : tile_status_text(s)), status(s),
        diagnostics(diagnostics_of(e, tile_error_get_diagnostic, tile_error_get_fixit)),
        cuda_result(tile_error_cuda_result(e)), resource(TILE_RESOURCE_NONE), needed(0), limit(0) {
    tile_error_resource(e, &resource, &needed, &limit);
    tile_error_free(e);
  }
  const char *status_name() const { return tile_status_name(status); }
  tile_status status;
  std::vector<Diagnostic> diagnostics;
  int cuda_result;
  tile_resource resource;      // of TILE_ERROR_RESOURCES: what does not fit, how much is needed and how much there is
  std::uint64_t needed, limit;
};

// Runs call(&error) and throws the error that it reports.
template <class Call> void check(Call call) {
  tile_error *error = nullptr;
  tile_status status = call(&error);
  if (status != TILE_OK) throw Error(status, error);
}

// An object of the library and the function that frees it.
template <class T, void (*Free)(T *)> struct Freer { void operator()(T *p) const { Free(p); } };
template <class T, void (*Free)(T *)> using Handle = std::unique_ptr<T, Freer<T, Free>>;

// ---- devices ----

class Device {
public:
  explicit Device(const char *spec = nullptr, const tile_device_options *options = nullptr) {
    tile_device *d = nullptr;
    check([&](tile_error **e) { return tile_device_open_with(spec, options, &d, e); });
    handle_.reset(d);
  }
  static std::size_t count(const char *kind) {
    std::size_t n = 0;
    check([&](tile_error **e) { return tile_device_count(kind, &n, e); });
    return n;
  }
  tile_device *get() const { return handle_.get(); }
  std::string kind() const { return text_of(tile_device_kind(get())); }
  std::string name() const { return text_of(tile_device_name(get())); }
  std::string arch() const { return text_of(tile_device_arch(get())); }   // "": any
  tile_device_properties properties() const {
    tile_device_properties p = TILE_DEVICE_PROPERTIES_INIT;
    check([&](tile_error **e) { return tile_device_get_properties(get(), &p, e); });
    return p;
  }
  std::uint64_t free_bytes() const {
    std::uint64_t n = 0;
    check([&](tile_error **e) { return tile_memory_info(get(), &n, nullptr, e); });
    return n;
  }
  void synchronize() const {
    check([&](tile_error **e) { return tile_device_synchronize(get(), e); });
  }

private:
  Handle<tile_device, tile_device_close> handle_;
};

// A place in a stream.
class Event {
public:
  explicit Event(const Device &device) {
    tile_stream_event *event = nullptr;
    check([&](tile_error **e) { return tile_stream_event_create(device.get(), &event, e); });
    handle_.reset(event);
  }
  tile_stream_event *get() const { return handle_.get(); }
  void record(void *stream = nullptr) const {
    check([&](tile_error **e) { return tile_stream_event_record(get(), stream, e); });
  }
  void synchronize() const {
    check([&](tile_error **e) { return tile_stream_event_synchronize(get(), e); });
  }
  bool done() const {
    bool is_done = false;
    check([&](tile_error **e) { return tile_stream_event_query(get(), &is_done, e); });
    return is_done;
  }
  double ms_since(const Event &start) const {
    double ms = 0;
    check([&](tile_error **e) { return tile_stream_event_elapsed_ms(start.get(), get(), &ms, e); });
    return ms;
  }

private:
  Handle<tile_stream_event, tile_stream_event_destroy> handle_;
};

class Stream {
public:
  explicit Stream(const Device &device) : device_(device.get()), stream_(nullptr) {
    check([&](tile_error **e) { return tile_stream_create(device_, &stream_, e); });
  }
  Stream(Stream &&from) noexcept : device_(from.device_), stream_(from.stream_) { from.stream_ = nullptr; }
  Stream &operator=(Stream &&from) noexcept {
    std::swap(device_, from.device_);
    std::swap(stream_, from.stream_);
    return *this;
  }
  ~Stream() { tile_stream_destroy(device_, stream_, nullptr); }
  void *get() const { return stream_; }
  void synchronize() const {
    check([&](tile_error **e) { return tile_stream_synchronize(device_, stream_, e); });
  }
  bool done() const {
    bool is_done = false;
    check([&](tile_error **e) { return tile_stream_query(device_, stream_, &is_done, e); });
    return is_done;
  }
  void wait(const Event &event) const {   // what is queued after this call waits
    check([&](tile_error **e) { return tile_stream_wait_event(device_, stream_, event.get(), e); });
  }

private:
  tile_device *device_;
  void *stream_;
};

// ---- memory ----

// The element type that a C++ type is.
template <class T> struct TypeOf {
  static_assert(std::is_arithmetic<T>::value, "this element type is not known: use tile::array(address, TILE_…)");
  static const tile_type value =
      std::is_floating_point<T>::value ? (sizeof(T) == 8 ? TILE_FP64 : TILE_FP32)
      : std::is_signed<T>::value ? (sizeof(T) == 1 ? TILE_INT8 : sizeof(T) == 2 ? TILE_INT16
                                    : sizeof(T) == 4 ? TILE_INT32 : TILE_INT64)
                                 : (sizeof(T) == 1 ? TILE_UINT8 : sizeof(T) == 2 ? TILE_UINT16
                                    : sizeof(T) == 4 ? TILE_UINT32 : TILE_UINT64);
};
template <> struct TypeOf<bool> { static const tile_type value = TILE_INT1; };

inline std::size_t bytes_of(std::size_t count, std::size_t size) {
  if (count > static_cast<std::size_t>(-1) / size) throw std::bad_array_new_length();
  return count * size;
}

// Memory of a device.
template <class T> class Buffer {
  static_assert(std::is_trivially_copyable<T>::value, "bytes are copied");

public:
  Buffer(const Device &device, std::size_t count) : device_(device.get()), count_(count), address_(0) {
    const std::size_t size = bytes_of(count, sizeof(T));
    check([&](tile_error **e) { return tile_memory_alloc(device_, size, &address_, e); });
  }
  Buffer(const Device &device, const std::vector<T> &from) : Buffer(device, from.size()) { upload(from.data()); }
  Buffer(Buffer &&from) noexcept : device_(from.device_), count_(from.count_), address_(from.address_) {
    from.address_ = 0, from.count_ = 0;
  }
  Buffer &operator=(Buffer &&from) noexcept {
    std::swap(device_, from.device_);
    std::swap(count_, from.count_);
    std::swap(address_, from.address_);
    return *this;
  }
  ~Buffer() { tile_memory_free(device_, address_, nullptr); }
  std::uint64_t address() const { return address_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

  void upload(const T *from) const {
    check([&](tile_error **e) { return tile_memory_upload(device_, address_, from, bytes(), e); });
  }
  void download(T *to) const {
    check([&](tile_error **e) { return tile_memory_download(device_, to, address_, bytes(), e); });
  }
  std::vector<T> download() const {
    std::vector<T> all(count_);
    download(all.data());
    return all;
  }
  void copy_from(const Buffer &from) const { copy_from(from, false, nullptr); }
  void fill(T value) const { fill(value, false, nullptr); }
  // These are queued on the stream.
  void upload(const T *from, const Stream &stream) const {
    check([&](tile_error **e) { return tile_memory_upload_async(device_, address_, from, bytes(), stream.get(), e); });
  }
  void download(T *to, const Stream &stream) const {
    check([&](tile_error **e) { return tile_memory_download_async(device_, to, address_, bytes(), stream.get(), e); });
  }
  void copy_from(const Buffer &from, const Stream &stream) const { copy_from(from, true, stream.get()); }
  void fill(T value, const Stream &stream) const { fill(value, true, stream.get()); }

private:
  void copy_from(const Buffer &from, bool queued, void *stream) const {
    const std::size_t n = from.bytes() < bytes() ? from.bytes() : bytes();
    check([&](tile_error **e) {
      return queued ? tile_memory_copy_async(device_, address_, from.address_, n, stream, e)
                    : tile_memory_copy(device_, address_, from.address_, n, e);
    });
  }
  void fill(T value, bool queued, void *stream) const {
    static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0, "a pattern has 1, 2, 4 or 8 bytes");
    union { T value; std::uint64_t bits; } pattern;
    pattern.bits = 0;
    pattern.value = value;
    check([&](tile_error **e) {
      return queued ? tile_memory_set_async(device_, address_, pattern.bits, sizeof(T), count_, stream, e)
                    : tile_memory_set(device_, address_, pattern.bits, sizeof(T), count_, e);
    });
  }
  tile_device *device_;
  std::size_t count_;
  std::uint64_t address_;
};

// Pinned memory of the host.
template <class T> class HostBuffer {
public:
  HostBuffer(const Device &device, std::size_t count) : device_(device.get()), count_(count), data_(nullptr) {
    const std::size_t size = bytes_of(count, sizeof(T));
    check([&](tile_error **e) { return tile_memory_alloc_host(device_, size, &data_, e); });
  }
  HostBuffer(HostBuffer &&from) noexcept : device_(from.device_), count_(from.count_), data_(from.data_) {
    from.data_ = nullptr, from.count_ = 0;
  }
  HostBuffer &operator=(HostBuffer &&from) noexcept {
    std::swap(device_, from.device_);
    std::swap(count_, from.count_);
    std::swap(data_, from.data_);
    return *this;
  }
  ~HostBuffer() { tile_memory_free_host(device_, data_, nullptr); }
  T *data() const { return static_cast<T *>(data_); }
  std::size_t size() const { return count_; }
  T &operator[](std::size_t i) const { return data()[i]; }
  T *begin() const { return data(); }
  T *end() const { return data() + count_; }

private:
  tile_device *device_;
  std::size_t count_;
  void *data_;
};

}  // namespace tile

#include "tile/arguments.hpp"
#include "tile/kernels.hpp"
#endif
