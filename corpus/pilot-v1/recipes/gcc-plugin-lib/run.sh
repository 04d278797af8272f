. "$LIB"
mkdir -p plugins lib in out
cat >codec.c <<'C'
int cz_level(void) { return 3; }
C
cat >plugin_cz.c <<'C'
extern int cz_level(void);
const char *format_name(void) { return "cz"; }
int format_level(void) { return cz_level(); }
C
cat >plugin_raw.c <<'C'
const char *format_name(void) { return "raw"; }
int format_level(void) { return 0; }
C
cat >convert.c <<'C'
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static char names[8][16];
static int count;

static void load(FILE *log, const char *path) {
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h) {
        fprintf(log, "registry: skipped %s: %s\n", path, dlerror());
        return;
    }
    const char *(*name)(void) = (const char *(*)(void))dlsym(h, "format_name");
    snprintf(names[count++], sizeof names[0], "%s", name());
    fprintf(log, "registry: loaded %s as %s\n", path, name());
}

int main(int argc, char **argv) {
    FILE *log = fopen("convert.log", "a");
    const char *plugins[] = {"plugins/format_cz.so", "plugins/format_raw.so"};
    fprintf(log, "registry: scanning plugins\n");
    for (int i = 0; i < 2; i++) load(log, plugins[i]);
    fprintf(log, "registry: %d format(s)\n", count);
    fclose(log);
    for (int i = 1; i < argc; i++) {
        const char *ext = strrchr(argv[i], '.');
        int known = 0;
        for (int j = 0; ext && j < count; j++) known |= strcmp(ext + 1, names[j]) == 0;
        if (!known) {
            fprintf(stderr, "convert: %s: unknown input format '%s'\n", argv[i], ext ? ext + 1 : "");
            fprintf(stderr, "convert: 0 of %d files written, input rejected\n", argc - 1);
            return 3;
        }
    }
    return 0;
}
C
gcc -shared -fPIC -Wl,-soname,libczcodec.so.2 -o lib/libczcodec.so.2 codec.c
ln -s libczcodec.so.2 lib/libczcodec.so
gcc -shared -fPIC -o plugins/format_cz.so plugin_cz.c -Llib -lczcodec
gcc -shared -fPIC -o plugins/format_raw.so plugin_raw.c
gcc -o convert convert.c -ldl
head -c 4096 /dev/urandom >in/scan-0041.cz
head -c 512 /dev/urandom >in/scan-0042.cz
printf '# converter settings\n[input]\npattern = in/*.cz\nmax_size_kb = 2048\nstrict = yes\n\n[output]\nformat = raw\nfolder = out\noverwrite = no\n' >convert.ini
rm -r lib
stage load ./convert in/scan-0041.cz in/scan-0042.cz
keep 03-service_log.log convert.log
keep 04-config.ini convert.ini
show 05-environment.txt ls -l plugins in
show 05-environment.txt file in/scan-0041.cz
