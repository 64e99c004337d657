// Programs, kernels, packages and the JIT in C++. tile.hpp includes this file.
#ifndef TILE_KERNELS_HPP
#define TILE_KERNELS_HPP

#ifndef TILE_TILE_HPP
#error "include tile/tile.hpp"
#endif

namespace tile {

// What a compilation made.
class Program {
public:
  explicit Program(const std::string &path, const tile_compile_options *options = nullptr) {
    take([&](tile_program **p, tile_error **e) { return tile_compile_file(path.c_str(), options, p, e); });
  }
  Program(const std::string &name, const std::string &text, const tile_compile_options *options = nullptr) {
    take([&](tile_program **p, tile_error **e) {
      return tile_compile_memory(name.c_str(), text.data(), text.size(), options, p, e);
    });
  }
  tile_program *get() const { return handle_.get(); }
  // One of TILE_EMIT_*: its text or bytes; "": it was not requested.
  std::string output(unsigned emit) const {
    std::size_t size = 0;
    const char *data = tile_program_output(get(), emit, &size);
    return data ? std::string(data, size) : std::string();
  }
  std::vector<std::string> kernels() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < tile_program_num_kernels(get()); i++)
      all.push_back(text_of(tile_program_kernel_name(get(), i)));
    return all;
  }
  std::vector<Diagnostic> diagnostics() const {   // warnings and remarks
    return diagnostics_of(const_cast<const tile_program *>(get()), tile_program_get_diagnostic, tile_program_get_fixit);
  }
  tile_resources resources(const char *kernel = nullptr) const {
    tile_resources r = TILE_RESOURCES_INIT;
    check([&](tile_error **e) { return tile_program_resources(get(), kernel, &r, e); });
    return r;
  }

private:
  template <class Make> void take(Make make) {
    tile_program *p = nullptr;
    check([&](tile_error **e) { return make(&p, e); });
    handle_.reset(p);
  }
  Handle<tile_program, tile_program_free> handle_;
};

inline std::vector<tile_param> params_of(const tile_kernel *kernel) {
  std::vector<tile_param> all;
  tile_param p = TILE_PARAM_INIT;
  for (std::size_t i = 0; tile_kernel_get_param(kernel, i, &p); i++) all.push_back(p);
  return all;
}

// Calls one of the launch functions of rt.h for a kernel or a family.
template <class Launch, class Of, class... Args>
void launch_by(Launch f, Of *of, void *stream, const Grid &grid, const Args &...args) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  grid.put(o.grid);
  o.stream = stream;
  const Arguments<sizeof...(args)> packed(args...);
  check([&](tile_error **e) { return f(of, &o, packed.data, sizeof...(args), e); });
}

// A compiled kernel, loaded on a device.
class Kernel {
public:
  Kernel(const Device &device, const Program &program, const char *name = nullptr) {
    take([&](tile_kernel **k, tile_error **e) { return tile_kernel_load(device.get(), program.get(), name, k, e); });
  }
  // From the text of PTX that tilec wrote.
  static Kernel from_ptx(const Device &device, const std::string &ptx, const char *name = nullptr) {
    Kernel kernel;
    kernel.take([&](tile_kernel **k, tile_error **e) {
      return tile_kernel_load_ptx(device.get(), ptx.data(), ptx.size(), name, k, e);
    });
    return kernel;
  }
  tile_kernel *get() const { return handle_.get(); }
  std::string name() const { return text_of(tile_kernel_name(get())); }
  std::vector<tile_param> params() const { return params_of(get()); }
  tile_resources resources() const {
    tile_resources r = TILE_RESOURCES_INIT;
    check([&](tile_error **e) { return tile_kernel_resources(get(), &r, e); });
    return r;
  }
  template <class... Args> void launch(const Grid &grid, const Args &...args) const {
    launch_on(nullptr, grid, args...);
  }
  template <class... Args> void launch_on(void *stream, const Grid &grid, const Args &...args) const {
    launch_by(tile_kernel_launch, get(), stream, grid, args...);
  }

private:
  Kernel() {}
  template <class Make> void take(Make make) {
    tile_kernel *k = nullptr;
    check([&](tile_error **e) { return make(&k, e); });
    handle_.reset(k);
  }
  Handle<tile_kernel, tile_kernel_free> handle_;
};

// ---- packages ----

class Package {
public:
  explicit Package(const std::string &path) {
    tile_package *p = nullptr;
    check([&](tile_error **e) { return tile_package_open_file(path.c_str(), &p, e); });
    handle_.reset(p);
  }
  Package(const void *bytes, std::size_t size) {   // not copied
    tile_package *p = nullptr;
    check([&](tile_error **e) { return tile_package_open_memory(bytes, size, &p, e); });
    handle_.reset(p);
  }
  tile_package *get() const { return handle_.get(); }
  std::vector<tile_package_entry> entries() const {
    std::vector<tile_package_entry> all;
    tile_package_entry entry = TILE_PACKAGE_ENTRY_INIT;
    for (std::size_t i = 0; tile_package_get_entry(get(), i, &entry); i++) all.push_back(entry);
    return all;
  }

private:
  Handle<tile_package, tile_package_close> handle_;
};

// The variants of a package's kernel on a device.
class Family {
public:
  Family(const Device &device, const Package &package, const char *name = nullptr) {
    tile_family *f = nullptr;
    check([&](tile_error **e) { return tile_family_load(device.get(), package.get(), name, &f, e); });
    handle_.reset(f);
  }
  tile_family *get() const { return handle_.get(); }
  std::string name() const { return text_of(tile_family_name(get())); }
  template <class... Args> void launch(const Grid &grid, const Args &...args) const {
    launch_on(nullptr, grid, args...);
  }
  template <class... Args> void launch_on(void *stream, const Grid &grid, const Args &...args) const {
    launch_by(tile_family_launch, get(), stream, grid, args...);
  }

private:
  Handle<tile_family, tile_family_free> handle_;
};

// ---- the JIT ----

// What the JIT compiled for one kind of launch.
class Variant {
public:
  explicit Variant(const tile_variant *v = nullptr) : variant_(v) {}
  const tile_variant *get() const { return variant_; }
  std::string output(unsigned emit) const {
    const char *data = nullptr;
    std::size_t size = 0;
    check([&](tile_error **e) { return tile_variant_output(variant_, emit, &data, &size, e); });
    return std::string(data, size);
  }
  std::string constexpr_value(const char *name) const { return text_of(tile_variant_constexpr(variant_, name)); }
  std::vector<tile_param> params() const { return params_of(tile_variant_kernel(variant_)); }
  tile_resources resources() const {
    tile_resources r = TILE_RESOURCES_INIT;
    check([&](tile_error **e) { return tile_variant_resources(variant_, &r, e); });
    return r;
  }

private:
  const tile_variant *variant_;   // the Jit's
};

// What tuning tried.
class Tuning {
public:
  explicit Tuning(tile_tuning *t) : handle_(t) {}
  tile_tuning *get() const { return handle_.get(); }
  std::vector<tile_tune_candidate> candidates() const {
    std::vector<tile_tune_candidate> all;
    tile_tune_candidate c = TILE_TUNE_CANDIDATE_INIT;
    for (std::size_t i = 0; tile_tuning_get_candidate(get(), i, &c); i++) all.push_back(c);
    return all;
  }
  Variant variant() const { return Variant(tile_tuning_variant(get())); }

private:
  Handle<tile_tuning, tile_tuning_free> handle_;
};

class JitKernel {
public:
  explicit JitKernel(tile_jit_kernel *k) : kernel_(k) {}
  tile_jit_kernel *get() const { return kernel_; }
  template <class... Args> void launch(const Grid &grid, const Args &...args) const {
    launch_with(options(grid, nullptr), args...);
  }
  template <class... Args> void launch_on(void *stream, const Grid &grid, const Args &...args) const {
    launch_with(options(grid, stream), args...);
  }
  template <class... Args> void launch_with(const tile_jit_launch_options &o, const Args &...args) const {
    const Arguments<sizeof...(args)> packed(args...);
    check([&](tile_error **e) { return tile_jit_launch(kernel_, &o, packed.data, sizeof...(args), e); });
  }
  template <class... Args> Variant prepare(const Grid &grid, const Args &...args) const {
    return prepare_with(options(grid, nullptr), args...);
  }
  template <class... Args> Variant prepare_with(const tile_jit_launch_options &o, const Args &...args) const {
    const Arguments<sizeof...(args)> packed(args...);
    const tile_variant *v = nullptr;
    check([&](tile_error **e) { return tile_jit_prepare(kernel_, &o, packed.data, sizeof...(args), &v, e); });
    return Variant(v);
  }
  // Times all configurations of @triton.autotune now. Throws if none can be taken.
  template <class... Args> Tuning tune(const Grid &grid, const Args &...args) const {
    return tune_with(options(grid, nullptr), args...);
  }
  template <class... Args> Tuning tune_with(const tile_jit_launch_options &o, const Args &...args) const {
    const Arguments<sizeof...(args)> packed(args...);
    tile_tuning *report = nullptr;
    tile_error *error = nullptr;
    const tile_status status = tile_jit_tune(kernel_, &o, packed.data, sizeof...(args), &report, &error);
    Tuning tuning(report);
    if (status != TILE_OK) throw Error(status, error);
    return tuning;
  }

private:
  static tile_jit_launch_options options(const Grid &grid, void *stream) {
    tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
    grid.put(o.grid);
    o.stream = stream;
    return o;
  }
  tile_jit_kernel *kernel_;   // the Jit's
};

class Jit {
public:
  Jit(const Device &device, const std::string &path, const tile_jit_options *options = nullptr) {
    tile_jit *jit = nullptr;
    check([&](tile_error **e) { return tile_jit_open_file(device.get(), path.c_str(), options, &jit, e); });
    handle_.reset(jit);
  }
  Jit(const Device &device, const std::string &name, const std::string &text,
      const tile_jit_options *options = nullptr) {
    tile_jit *jit = nullptr;
    check([&](tile_error **e) {
      return tile_jit_open_memory(device.get(), name.c_str(), text.data(), text.size(), options, &jit, e);
    });
    handle_.reset(jit);
  }
  tile_jit *get() const { return handle_.get(); }
  std::vector<std::string> kernels() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < tile_jit_num_kernels(get()); i++)
      all.push_back(text_of(tile_jit_kernel_name(get(), i)));
    return all;
  }
  JitKernel kernel(const char *name = nullptr) const {
    tile_jit_kernel *k = nullptr;
    check([&](tile_error **e) { return tile_jit_get_kernel(get(), name, &k, e); });
    return JitKernel(k);
  }

private:
  Handle<tile_jit, tile_jit_close> handle_;
};

}  // namespace tile
#endif
