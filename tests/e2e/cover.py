"""Windows that lie on others, made with the display's own library and moved by lines of JSON.

A line asks for one thing and is answered by one: {"ok": true}, once the display has done it, or what was asked for.
  {"show": NAME, "at": [x, y, width, height], "unmanaged": bool, "through": bool, "input_only": bool, "hole": [x, y, w, h]}
  {"blink": NAME, "at": [x, y, width, height], "inside": NUMBER, "every": milliseconds}
  {"hide": NAME}
  {"composited": true}
"""

import ctypes
import json
import sys
import threading

x11 = ctypes.CDLL("libX11.so.6")
xext = ctypes.CDLL("libXext.so.6")

Id, Int, Pointer = ctypes.c_ulong, ctypes.c_int, ctypes.c_void_p


def told(library, name, result, *arguments):
    call = getattr(library, name)
    call.restype, call.argtypes = result, arguments
    return call


class Attributes(ctypes.Structure):
    """XSetWindowAttributes."""

    _fields_ = [
        ("background_pixmap", Id), ("background_pixel", Id), ("border_pixmap", Id), ("border_pixel", Id),
        ("bit_gravity", Int), ("win_gravity", Int), ("backing_store", Int), ("backing_planes", Id),
        ("backing_pixel", Id), ("save_under", Int), ("event_mask", ctypes.c_long),
        ("do_not_propagate_mask", ctypes.c_long), ("override_redirect", Int), ("colormap", Id), ("cursor", Id),
    ]


class Rectangle(ctypes.Structure):
    """XRectangle."""

    _fields_ = [("x", ctypes.c_short), ("y", ctypes.c_short), ("width", ctypes.c_ushort), ("height", ctypes.c_ushort)]


class Shown(ctypes.Structure):
    """The beginning of XWindowAttributes, and enough room for the rest."""

    _fields_ = [
        ("x", Int), ("y", Int), ("width", Int), ("height", Int), ("border_width", Int), ("depth", Int),
        ("visual", Pointer), ("root", Id), ("class", Int), ("bit_gravity", Int), ("win_gravity", Int),
        ("backing_store", Int), ("backing_planes", Id), ("backing_pixel", Id), ("save_under", Int),
        ("colormap", Id), ("map_installed", Int), ("map_state", Int), ("rest", ctypes.c_byte * 128),
    ]


open_display = told(x11, "XOpenDisplay", Pointer, ctypes.c_char_p)
root_of = told(x11, "XDefaultRootWindow", Id, Pointer)
create = told(x11, "XCreateWindow", Id, Pointer, Id, Int, Int, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint, Int,
              ctypes.c_uint, Pointer, Id, ctypes.POINTER(Attributes))
title = told(x11, "XStoreName", Int, Pointer, Id, ctypes.c_char_p)
raise_up = told(x11, "XMapRaised", Int, Pointer, Id)
unmap = told(x11, "XUnmapWindow", Int, Pointer, Id)
destroy = told(x11, "XDestroyWindow", Int, Pointer, Id)
sync = told(x11, "XSync", Int, Pointer, Int)
attributes_of = told(x11, "XGetWindowAttributes", Int, Pointer, Id, ctypes.POINTER(Shown))
atom = told(x11, "XInternAtom", Id, Pointer, ctypes.c_char_p, Int)
owner = told(x11, "XGetSelectionOwner", Id, Pointer, Id)
change = told(x11, "XChangeProperty", Int, Pointer, Id, Id, Id, Int, Int, ctypes.POINTER(Id), Int)
shape = told(xext, "XShapeCombineRectangles", None, Pointer, Id, Int, Int, Int, ctypes.POINTER(Rectangle), Int, Int, Int)

CW_BACK_PIXEL, CW_OVERRIDE_REDIRECT = 1 << 1, 1 << 9
COPY, INPUT_ONLY = 0, 2
BOUNDING, INPUT = 0, 2
SET, SUBTRACT = 0, 3
VIEWABLE = 2
RED = 0xC04040

# Windows that blink do so on a thread of their own.
told(x11, "XInitThreads", Int)()
display = open_display(None)
root = root_of(display)
windows, blinking = {}, {}


def show(name, at, unmanaged=False, through=False, input_only=False, hole=None):
    x, y, width, height = at
    wanted = Attributes(background_pixel=RED, override_redirect=int(unmanaged))
    mask = CW_OVERRIDE_REDIRECT | (0 if input_only else CW_BACK_PIXEL)
    kind = INPUT_ONLY if input_only else COPY
    window = create(display, root, x, y, width, height, 0, 0, kind, None, mask, ctypes.byref(wanted))
    title(display, window, name.encode())
    if not unmanaged:
        above_the_others(window)
        without_the_keyboard(window)
        at_this_place(window)
    if through:
        shape(display, window, INPUT, 0, 0, (Rectangle * 1)(), 0, SET, 0)
    if hole:
        shape(display, window, BOUNDING, 0, 0, (Rectangle * 1)(Rectangle(*hole)), 1, SUBTRACT, 0)
    raise_up(display, window)
    windows[name] = window
    shown = Shown()
    while shown.map_state != VIEWABLE:
        sync(display, 0)
        attributes_of(display, window, ctypes.byref(shown))


def blink(name, at, inside, every):
    x, y, width, height = at
    wanted = Attributes(background_pixel=RED)
    window = create(display, inside, x, y, width, height, 0, 0, COPY, None, CW_BACK_PIXEL, ctypes.byref(wanted))
    windows[name], enough = window, threading.Event()

    def live():
        shown = False
        while True:
            (unmap if shown else raise_up)(display, window)
            sync(display, 0)
            shown = not shown
            if enough.wait(every / 1000):
                return

    thread = threading.Thread(target=live, daemon=True)
    blinking[name] = (enough, thread)
    thread.start()


def above_the_others(window):
    state = (Id * 1)(atom(display, b"_NET_WM_STATE_ABOVE", 0))
    change(display, window, atom(display, b"_NET_WM_STATE", 0), 4, 32, 0, state, 1)
    # A window without a frame stands where it was asked to, to the pixel: _MOTIF_WM_HINTS.
    plain = (Id * 5)(2, 0, 0, 0, 0)
    motif = atom(display, b"_MOTIF_WM_HINTS", 0)
    change(display, window, motif, motif, 32, 0, plain, 5)


def without_the_keyboard(window):
    """WM_HINTS that want no input: the window that has the keyboard keeps it."""
    hints = (Id * 9)(1, 0, 0, 0, 0, 0, 0, 0, 0)
    change(display, window, atom(display, b"WM_HINTS", 0), atom(display, b"WM_HINTS", 0), 32, 0, hints, 9)
    start = (Id * 1)(0)
    change(display, window, atom(display, b"_NET_WM_USER_TIME", 0), 6, 32, 0, start, 1)


def at_this_place(window):
    """WM_NORMAL_HINTS with a position of the person's own."""
    hints = (Id * 18)(1)
    size = atom(display, b"WM_SIZE_HINTS", 0)
    change(display, window, atom(display, b"WM_NORMAL_HINTS", 0), size, 32, 0, hints, 18)


def obey(words):
    if "show" in words:
        name = words.pop("show")
        show(name, words.pop("at"), **words)
    elif "blink" in words:
        name = words.pop("blink")
        blink(name, words.pop("at"), **words)
    elif "hide" in words:
        if words["hide"] in blinking:
            enough, thread = blinking.pop(words["hide"])
            enough.set()
            thread.join()
        destroy(display, windows.pop(words["hide"]))
        sync(display, 0)
    elif "composited" in words:
        return {"composited": owner(display, atom(display, b"_NET_WM_CM_S0", 0)) != 0}
    return {"ok": True}


print("ready", flush=True)
for line in sys.stdin:
    print(json.dumps(obey(json.loads(line))), flush=True)
