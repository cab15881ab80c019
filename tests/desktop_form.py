"""A window with a text field and a red button. It writes the text and the number of presses to a file, as JSON.

    desktop_form.py FILE

Runs with a Python that has tkinter, so it uses the standard library alone.
"""

import json
import os
import sys
import tkinter


def main(path: str) -> None:
    root = tkinter.Tk()
    root.title("Form für Tests")
    root.geometry("420x240+80+80")
    text = tkinter.StringVar()
    pressed = 0

    def save(*_: object) -> None:
        with open(f"{path}.new", "w") as file:
            json.dump({"text": text.get(), "pressed": pressed}, file)
        os.replace(f"{path}.new", path)

    def press() -> None:
        nonlocal pressed
        pressed += 1
        save()

    field = tkinter.Entry(root, textvariable=text)
    field.place(x=20, y=20, width=380, height=40)
    tkinter.Label(root, text="A form that the tests fill in").place(x=20, y=80)
    button = tkinter.Button(root, text="Send", command=press, relief="flat", bd=0, highlightthickness=0)
    button.configure(bg="#ff0000", activebackground="#ff0000", fg="white", activeforeground="white")
    button.place(x=20, y=140, width=160, height=60)
    text.trace_add("write", save)
    field.focus_force()
    root.after(50, save)
    root.mainloop()


main(sys.argv[1])
