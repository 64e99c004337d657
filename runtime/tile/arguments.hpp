// The arguments of a launch from C++ values. tile.hpp includes this file.
#ifndef TILE_ARGUMENTS_HPP
#define TILE_ARGUMENTS_HPP

#ifndef TILE_TILE_HPP
#error "include tile/tile.hpp"
#endif

namespace tile {

// Programs on each axis.
struct Grid {
  Grid(std::uint32_t nx = 1, std::uint32_t ny = 1, std::uint32_t nz = 1) : x(nx), y(ny), z(nz) {}
  Grid(const std::array<std::uint32_t, 3> &n) : x(n[0]), y(n[1]), z(n[2]) {}
  std::uint32_t x, y, z;
  void put(std::uint32_t grid[3]) const { grid[0] = x, grid[1] = y, grid[2] = z; }
};

inline tile_arg array(std::uint64_t address, tile_type type) { return tile_arg_array(address, type); }

inline tile_arg arg(tile_arg a) { return a; }
inline tile_arg arg(std::nullptr_t) { return tile_arg_none(); }
inline tile_arg arg(bool v) { return tile_arg_bool(v); }
inline tile_arg arg(const char *expression) { return tile_arg_text(expression); }
inline tile_arg arg(const std::string &expression) { return tile_arg_text(expression.c_str()); }
inline tile_arg arg(const tile_tensor &t) { return tile_arg_tensor(&t); }
template <class T> tile_arg arg(const Buffer<T> &b) { return tile_arg_array(b.address(), TypeOf<T>::value); }
template <class T> typename std::enable_if<std::is_floating_point<T>::value, tile_arg>::type arg(T v) {
  return tile_arg_float(static_cast<double>(v));
}
template <class T>
typename std::enable_if<std::is_integral<T>::value && !std::is_same<T, bool>::value, tile_arg>::type arg(T v) {
  tile_arg a = tile_arg_int(static_cast<std::int64_t>(v));
  if (std::is_unsigned<T>::value && sizeof(T) == 8 && a.value.i < 0) a.type = TILE_UINT64;
  return a;
}

// Values that are no arguments. A pointer would otherwise become a bool.
template <class T> struct Refused : std::false_type {};
template <class T>
typename std::enable_if<!std::is_same<typename std::remove_cv<T>::type, char>::value, tile_arg>::type arg(T *) {
  static_assert(Refused<T>::value, "pass a tile::Buffer, or tile::array(address, TILE_FP32) for memory of the device");
  return tile_arg_none();
}
template <class T, class A> tile_arg arg(const std::vector<T, A> &) {
  static_assert(Refused<T>::value, "copy a std::vector to the device: tile::Buffer<float> x(device, vector)");
  return tile_arg_none();
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

// Appends the items of a tuple from number I on.
template <std::size_t I, class Tuple> struct Items {
  static void append(Tuples &to, std::vector<tile_arg> &all, const Tuple &t) {
    all.push_back(pack(to, std::get<std::tuple_size<Tuple>::value - I>(t)));
    Items<I - 1, Tuple>::append(to, all, t);
  }
};
template <class Tuple> struct Items<0, Tuple> {
  static void append(Tuples &, std::vector<tile_arg> &, const Tuple &) {}
};
template <class Tuple> tile_arg pack_items(Tuples &to, const char *name, const Tuple &t) {
  std::vector<tile_arg> all;
  Items<std::tuple_size<Tuple>::value, Tuple>::append(to, all, t);
  to.items.push_front(std::move(all));
  const tile_tuple tuple = {to.items.front().data(), static_cast<std::uint32_t>(to.items.front().size()), name, 0};
  to.tuples.push_front(tuple);
  return tile_arg_tuple(&to.tuples.front());
}
template <class... T> tile_arg pack(Tuples &to, const std::tuple<T...> &t) { return pack_items(to, nullptr, t); }
template <class A, class B> tile_arg pack(Tuples &to, const std::pair<A, B> &p) { return pack_items(to, nullptr, p); }
template <class... T> tile_arg pack(Tuples &to, const Named<T...> &t) { return pack_items(to, t.name, t.items); }

// The arguments of a call, for as long as it lasts.
template <std::size_t N> struct Arguments {
  template <class... Args> explicit Arguments(const Args &...args) : data{pack(tuples, args)..., tile_arg_default()} {}
  Arguments(const Arguments &) = delete;
  Tuples tuples;
  tile_arg data[N + 1];        // of no arguments too
};

}  // namespace tile
#endif
