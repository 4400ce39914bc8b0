/* The agent that brings itself: a Python interpreter whose library is the ZIP archive at the end of
   this program's own file. /proc/self/exe leads to that file also when it has no name any more, so
   nothing is read from disk, and children are started from there too. */
#include <Python.h>
#include <string.h>
#include <sys/prctl.h>

#define SELF L"/proc/self/exe"

static int failed(PyConfig *config, PyStatus status) {
    PyConfig_Clear(config);
    if (PyStatus_IsExit(status))
        return status.exitcode;
    Py_ExitStatusException(status);
}

static PyStatus configure(PyConfig *config, int argc, char **argv) {
    PyStatus status;
    wchar_t **places[] = {&config->executable,      &config->base_executable, &config->program_name,
                          &config->prefix,          &config->base_prefix,     &config->exec_prefix,
                          &config->base_exec_prefix, &config->stdlib_dir};
    config->parse_argv = 1;
    config->site_import = 0;
    config->write_bytecode = 0;
    config->pathconfig_warnings = 0;
    config->install_signal_handlers = 1;
    config->configure_c_stdio = 1;
    config->module_search_paths_set = 1;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        status = PyConfig_SetString(config, places[i], SELF);
        if (PyStatus_Exception(status))
            return status;
    }
    status = PyWideStringList_Append(&config->module_search_paths, SELF);
    if (PyStatus_Exception(status))
        return status;
    return PyConfig_SetBytesArgv(config, argc, argv);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--runs") == 0)
        return 0; /* The kernel and the loader have let it run: that was the question. */
    prctl(PR_SET_NAME, "advisor-agent");
    PyPreConfig before;
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    PyStatus status = Py_PreInitialize(&before);
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    if (PyStatus_Exception(status))
        return failed(&config, status);
    status = configure(&config, argc, argv);
    if (PyStatus_Exception(status))
        return failed(&config, status);
    status = Py_InitializeFromConfig(&config);
    if (PyStatus_Exception(status) || PyStatus_IsExit(status))
        return failed(&config, status);
    PyConfig_Clear(&config);
    if (PyImport_ImportModule("advisor_boot") == NULL) {
        PyErr_Print();
        return 1;
    }
    return Py_RunMain();
}
