// C++ over tile.h and jit.h: destructors and exceptions, nothing else. C++17, header only.
//
//   tile::Device device;
//   tile::Jit jit(device, "vector_add.tile");
//   auto add = jit.kernel("add");
//   add.launch({blocks, 1, 1}, tile::array(x, TILE_FP32), tile::array(y, TILE_FP32), tile::array(out, TILE_FP32),
//              n, 1024);
#ifndef TILE_TILE_HPP
#define TILE_TILE_HPP

#include <array>
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

class Error : public std::runtime_error {
public:
  Error(tile_status s, tile_error *e) : std::runtime_error(tile_error_message(e)), status(s) { tile_error_free(e); }
  tile_status status;
};

// Runs call(&error) and throws the error that it reports.
template <class Call> void check(Call call) {
  tile_error *error = nullptr;
  tile_status status = call(&error);
  if (status != TILE_OK) throw Error(status, error);
}

class Device {
public:
  explicit Device(const char *spec = nullptr) {
    tile_device *d;
    check([&](tile_error **e) { return tile_device_open(spec, &d, e); });
    handle_.reset(d);
  }
  tile_device *get() const { return handle_.get(); }
  void synchronize() const {
    check([&](tile_error **e) { return tile_device_synchronize(get(), e); });
  }

private:
  struct Close { void operator()(tile_device *d) const { tile_device_close(d); } };
  std::unique_ptr<tile_device, Close> handle_;
};

// Memory of a device. The device must outlive it.
template <class T> class Buffer {
public:
  Buffer(const Device &device, std::size_t count) : device_(device.get()), count_(count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    check([&](tile_error **e) { return tile_memory_alloc(device_, bytes(), &address_, e); });
  }
  ~Buffer() { tile_memory_free(device_, address_, nullptr); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  std::uint64_t address() const { return address_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  void upload(const T *from) const {
    check([&](tile_error **e) { return tile_memory_upload(device_, address_, from, bytes(), e); });
  }
  void download(T *to) const {
    check([&](tile_error **e) { return tile_memory_download(device_, to, address_, bytes(), e); });
  }

private:
  tile_device *device_;
  std::size_t count_;
  std::uint64_t address_ = 0;
};

inline tile_arg array(std::uint64_t address, tile_type type) { return tile_arg_array(address, type); }

inline tile_arg arg(tile_arg a) { return a; }
inline tile_arg arg(std::nullptr_t) { return tile_arg_none(); }
inline tile_arg arg(const char *expression) { return tile_arg_text(expression); }
inline tile_arg arg(const tile_tensor &t) { return tile_arg_tensor(&t); }
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> tile_arg arg(T v) {
  if constexpr (std::is_same_v<T, bool>) return tile_arg_bool(v);
  else if constexpr (std::is_floating_point_v<T>) return tile_arg_float(static_cast<double>(v));
  else {
    tile_arg a = tile_arg_int(static_cast<std::int64_t>(v));
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8)
      if (v > static_cast<T>(INT64_MAX)) a.type = TILE_UINT64;
    return a;
  }
}

// A namedtuple of the source: tile::named("Pair", a, b). A plain tuple is a std::tuple or std::pair; a constexpr in one
// is a string.
template <class... T> struct Named {
  const char *name;
  std::tuple<T...> items;
};
template <class... T> Named<T...> named(const char *name, T... items) { return {name, std::tuple<T...>(items...)}; }

// What arguments that are tuples point to, for one launch.
struct Tuples {
  std::forward_list<std::vector<tile_arg>> items;
  std::forward_list<tile_tuple> tuples;
};
template <class T> tile_arg pack(Tuples &, const T &v) { return arg(v); }
template <class... T> tile_arg pack(Tuples &, const std::tuple<T...> &);
template <class A, class B> tile_arg pack(Tuples &, const std::pair<A, B> &);
template <class... T> tile_arg pack(Tuples &, const Named<T...> &);
template <class... T> tile_arg pack_items(Tuples &to, const char *name, const std::tuple<T...> &t) {
  std::vector<tile_arg> items = std::apply([&](const T &...v) { return std::vector<tile_arg>{pack(to, v)...}; }, t);
  to.items.push_front(std::move(items));
  to.tuples.push_front(tile_tuple{to.items.front().data(), static_cast<std::uint32_t>(sizeof...(T)), name, 0});
  return tile_arg_tuple(&to.tuples.front());
}
template <class... T> tile_arg pack(Tuples &to, const std::tuple<T...> &t) { return pack_items(to, nullptr, t); }
template <class A, class B> tile_arg pack(Tuples &to, const std::pair<A, B> &p) {
  return pack_items(to, nullptr, std::tuple<const A &, const B &>(p.first, p.second));
}
template <class... T> tile_arg pack(Tuples &to, const Named<T...> &t) { return pack_items(to, t.name, t.items); }

class Kernel {
public:
  explicit Kernel(tile_jit_kernel *k) : kernel_(k) {}
  tile_jit_kernel *get() const { return kernel_; }
  template <class... Args> void launch_with(const tile_jit_launch_options &options, const Args &...args) const {
    Tuples tuples;
    const tile_arg packed[sizeof...(args) + 1] = {pack(tuples, args)...};   // of no arguments too
    check([&](tile_error **e) { return tile_jit_launch(kernel_, &options, packed, sizeof...(args), e); });
  }
  template <class... Args> void launch(const std::array<std::uint32_t, 3> &grid, const Args &...args) const {
    tile_jit_launch_options options = TILE_JIT_LAUNCH_OPTIONS_INIT;
    for (int i = 0; i < 3; i++) options.grid[i] = grid[static_cast<std::size_t>(i)];
    launch_with(options, args...);
  }

private:
  tile_jit_kernel *kernel_;   // the Jit's
};

class Jit {
public:
  Jit(const Device &device, const std::string &path, const tile_jit_options *options = nullptr) {
    tile_jit *jit;
    check([&](tile_error **e) { return tile_jit_open_file(device.get(), path.c_str(), options, &jit, e); });
    handle_.reset(jit);
  }
  Kernel kernel(const char *name = nullptr) const {
    tile_jit_kernel *k;
    check([&](tile_error **e) { return tile_jit_get_kernel(handle_.get(), name, &k, e); });
    return Kernel(k);
  }

private:
  struct Close { void operator()(tile_jit *jit) const { tile_jit_close(jit); } };
  std::unique_ptr<tile_jit, Close> handle_;
};

}  // namespace tile
#endif
