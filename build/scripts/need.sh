# What Gofer needs on this machine, and what each thing is called in the
# package managers. Sourced by setup.sh and run.sh; works in bash 3.2.

have() { command -v "$1" >/dev/null 2>&1; }
file() { local f; for f in "$@"; do [ -e "$f" ] && return 0; done; return 1; }
linux() { [ "$(uname -s)" = Linux ]; }

# at_least FOUND MAJOR MINOR: FOUND starts with a version that is not older.
at_least() {
  [[ $1 =~ ([0-9]+)\.([0-9]+) ]] || return 1
  (( BASH_REMATCH[1] > $2 || (BASH_REMATCH[1] == $2 && BASH_REMATCH[2] >= $3) ))
}

go_found() { go env GOVERSION 2>/dev/null || true; }
node_found() { node --version 2>/dev/null || true; }
go_ok() { at_least "$(go_found)" 1 26; }
node_ok() { at_least "$(node_found)" 20 19 && have npm; }

browser_ok() {
  local b
  for b in chromium chromium-browser google-chrome google-chrome-stable microsoft-edge brave-browser; do
    have "$b" && return 0
  done
  file "/Applications/Google Chrome.app" "/Applications/Chromium.app" "/Applications/Microsoft Edge.app" "/Applications/Brave Browser.app"
}

library() { have pkg-config && pkg-config --exists "$@"; }
webview_ok() { linux || return 0; have gcc && library gtk+-3.0 webkit2gtk-4.1; }
access_ok() { file /usr/libexec/at-spi-bus-launcher /usr/lib/at-spi-bus-launcher /usr/lib/at-spi2-core/at-spi-bus-launcher; }
font_ok() { have fc-match && [[ $(fc-match -f '%{family}' 'Noto Sans') == *Noto\ Sans* ]]; }

# need NAME APT DNF PACMAN BREW CHECK…: notes a thing as missing when CHECK says no.
# A dash says that the manager has no package for it or needs none.
names=() apt=() dnf=() pacman=() brew=()
need() {
  local name=$1 a=$2 d=$3 p=$4 b=$5
  shift 5
  "$@" && return
  names+=("$name")
  [ "$a" = - ] || apt+=("$a")
  [ "$d" = - ] || dnf+=("$d")
  [ "$p" = - ] || pacman+=("$p")
  [ "$b" = - ] || brew+=("$b")
}

# look run|test: fills the lists with what is missing.
look() {
  names=() apt=() dnf=() pacman=() brew=()
  local chromium=chromium
  grep -qs '^ID=ubuntu' /etc/os-release && chromium=chromium-browser
  need "a Chromium browser" "$chromium" chromium chromium "--cask chromium" browser_ok
  if linux; then
    need "a C compiler" gcc gcc gcc - have gcc
    need "C headers" libc6-dev glibc-devel glibc - file /usr/include/stdlib.h
    need pkg-config pkg-config pkgconf-pkg-config pkgconf - have pkg-config
    need "GTK 3 headers" libgtk-3-dev gtk3-devel gtk3 - library gtk+-3.0
    need "WebKitGTK 4.1 headers" libwebkit2gtk-4.1-dev webkit2gtk4.1-devel webkit2gtk-4.1 - library webkit2gtk-4.1
    need "a sandbox for commands (bubblewrap)" bubblewrap bubblewrap bubblewrap - have bwrap
  else
    need "a C compiler (xcode-select --install)" - - - - have cc
  fi
  if [ "$1" = test ] && linux; then
    need Xvfb xvfb xorg-x11-server-Xvfb xorg-server-xvfb - have Xvfb
    need openbox openbox openbox openbox - have openbox
    need "D-Bus daemon" dbus dbus-daemon dbus - have dbus-daemon
    need "D-Bus launcher" dbus-x11 dbus-x11 dbus - have dbus-launch
    need "AT-SPI accessibility" at-spi2-core at-spi2-core at-spi2-core - access_ok
    need xdotool xdotool xdotool xdotool - have xdotool
    need ImageMagick imagemagick ImageMagick imagemagick - have import
    need "Noto fonts" fonts-noto-core google-noto-sans-fonts noto-fonts - font_ok
  fi
}
