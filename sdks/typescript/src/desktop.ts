/** The virtual desktop on the daemon's machine: `client.desktop`. */
import { type Http, type NodeOptions, type Operation, parted } from "./http.js";
import type { components, operations } from "./openapi.js";

type Schemas = components["schemas"];
type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;

export type DesktopStatus = Schemas["DesktopStatus"];
export type DesktopSettings = Schemas["StartDesktopBody"];
export type DisplayInfo = Schemas["DisplayInfo"];
export type MousePosition = Schemas["MousePosition"];
export type DesktopDone = Schemas["DesktopDone"];
export type DesktopWindow = Schemas["WindowInfo"];
export type WindowList = Schemas["WindowList"];
export type ClipboardText = Schemas["ClipboardText"];
export type LaunchedApp = Schemas["LaunchedApp"];
export type OpenedTarget = Schemas["OpenedTarget"];
export type RecordingInfo = Schemas["RecordingInfo"];
export type RecordingList = Schemas["RecordingList"];
export type StreamStatus = Schemas["StreamStatus"];

export class Desktop {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** Show its state: what is missing, what runs, and why it stopped. */
  status(options: NodeOptions = {}): Promise<DesktopStatus> {
    return this.#http.json("desktop.status", options);
  }

  /** Start it. Does nothing if it is already running. */
  start(body: DesktopSettings = {}, options: NodeOptions = {}): Promise<DesktopStatus> {
    return this.#act("desktop.start", body, options);
  }

  /** Stop it, and every program that was started on it. */
  stop(options: NodeOptions = {}): Promise<DesktopStatus> {
    return this.#http.json("desktop.stop", options);
  }

  /** Show the display and its size. */
  info(options: NodeOptions = {}): Promise<DisplayInfo> {
    return this.#http.json("desktop.info", options);
  }

  /** Take a screenshot of the whole desktop. The response's `blob()` is the image. */
  screenshot(query: QueryOf<"desktop.screenshot"> & NodeOptions = {}): Promise<Response> {
    return this.#http.send("desktop.screenshot", parted(query));
  }

  /** Take a screenshot of a part of the desktop. */
  region(query: QueryOf<"desktop.region"> & NodeOptions): Promise<Response> {
    return this.#http.send("desktop.region", parted(query));
  }

  /** Show where the mouse is. */
  mouse(options: NodeOptions = {}): Promise<MousePosition> {
    return this.#http.json("desktop.mouse", options);
  }

  /** Move the mouse. */
  move(body: Schemas["MoveMouseBody"], options: NodeOptions = {}): Promise<MousePosition> {
    return this.#act("desktop.move", body, options);
  }

  /** Move the mouse and click. */
  click(body: Schemas["ClickBody"], options: NodeOptions = {}): Promise<MousePosition> {
    return this.#act("desktop.click", body, options);
  }

  /** Press a mouse button and hold it. */
  mouseDown(body: Schemas["ButtonActionBody"] = {}, options: NodeOptions = {}): Promise<MousePosition> {
    return this.#act("desktop.mouse_down", body, options);
  }

  /** Release a mouse button. */
  mouseUp(body: Schemas["ButtonActionBody"] = {}, options: NodeOptions = {}): Promise<MousePosition> {
    return this.#act("desktop.mouse_up", body, options);
  }

  /** Press a button at one place and release it at another. */
  drag(body: Schemas["DragBody"], options: NodeOptions = {}): Promise<MousePosition> {
    return this.#act("desktop.drag", body, options);
  }

  /** Move the mouse and turn its wheel. */
  scroll(body: Schemas["ScrollBody"], options: NodeOptions = {}): Promise<MousePosition> {
    return this.#act("desktop.scroll", body, options);
  }

  /** Type text into the window that has the focus. */
  type(text: string, body: Omit<Schemas["TypeTextBody"], "text"> = {}, options: NodeOptions = {}): Promise<DesktopDone> {
    return this.#act("desktop.type", { text, ...body }, options);
  }

  /** Press and release a key, or several together: `ctrl+c`. */
  press(key: string, body: Omit<Schemas["PressKeyBody"], "key"> = {}, options: NodeOptions = {}): Promise<DesktopDone> {
    return this.#act("desktop.press", { key, ...body }, options);
  }

  /** Press a key and hold it. */
  keyDown(key: string, options: NodeOptions = {}): Promise<DesktopDone> {
    return this.#act("desktop.key_down", { key }, options);
  }

  /** Release a key. */
  keyUp(key: string, options: NodeOptions = {}): Promise<DesktopDone> {
    return this.#act("desktop.key_up", { key }, options);
  }

  /** List the visible windows. */
  windows(options: NodeOptions = {}): Promise<WindowList> {
    return this.#http.json("desktop.windows", options);
  }

  /** Show the window that has the focus. */
  focused(options: NodeOptions = {}): Promise<DesktopWindow> {
    return this.#http.json("desktop.focused", options);
  }

  /** Raise a window and give it the focus. */
  focus(windowId: string, options: NodeOptions = {}): Promise<DesktopWindow> {
    return this.#http.json("desktop.focus", { path: { window_id: windowId }, ...options });
  }

  /** Move a window. */
  moveWindow(windowId: string, body: Schemas["MoveWindowBody"], options: NodeOptions = {}): Promise<DesktopWindow> {
    return this.#http.json("desktop.move_window", { path: { window_id: windowId }, body, ...options });
  }

  /** Resize a window. */
  resizeWindow(windowId: string, body: Schemas["ResizeWindowBody"], options: NodeOptions = {}): Promise<DesktopWindow> {
    return this.#http.json("desktop.resize_window", { path: { window_id: windowId }, body, ...options });
  }

  /** Read the clipboard's text. */
  clipboard(query: QueryOf<"desktop.clipboard"> & NodeOptions = {}): Promise<ClipboardText> {
    return this.#http.json("desktop.clipboard", parted(query));
  }

  /** Copy text to the clipboard. */
  setClipboard(body: Schemas["SetClipboardBody"], options: NodeOptions = {}): Promise<DesktopDone> {
    return this.#act("desktop.set_clipboard", body, options);
  }

  /** Start a program on it, which ends with it. */
  launch(body: Schemas["LaunchAppBody"], options: NodeOptions = {}): Promise<LaunchedApp> {
    return this.#act("desktop.launch", body, options);
  }

  /** Open a file or a URL with the machine's default program for it. */
  open(target: string, options: NodeOptions = {}): Promise<OpenedTarget> {
    return this.#act("desktop.open", { target }, options);
  }

  /** Start recording the desktop. */
  record(body: Schemas["StartRecordingBody"] = {}, options: NodeOptions = {}): Promise<RecordingInfo> {
    return this.#act("desktop.record", body, options);
  }

  /** Finish the recording. */
  stopRecording(options: NodeOptions = {}): Promise<RecordingInfo> {
    return this.#http.json("desktop.stop_recording", options);
  }

  /** List the recordings, oldest first. */
  recordings(options: NodeOptions = {}): Promise<RecordingList> {
    return this.#http.json("desktop.recordings", options);
  }

  /** Show a recording. */
  recording(recordingId: string, options: NodeOptions = {}): Promise<RecordingInfo> {
    return this.#http.json("desktop.recording", { path: { recording_id: recordingId }, ...options });
  }

  /** Download a finished recording (MP4). The response's `body` is a stream. */
  downloadRecording(recordingId: string, options: NodeOptions = {}): Promise<Response> {
    return this.#http.send("desktop.download_recording", { path: { recording_id: recordingId }, ...options });
  }

  /** Delete a finished recording. */
  deleteRecording(recordingId: string, options: NodeOptions = {}): Promise<void> {
    return this.#http.done("desktop.delete_recording", { path: { recording_id: recordingId }, ...options });
  }

  /** Show whether the live view is on, and how many viewers it has. */
  stream(options: NodeOptions = {}): Promise<StreamStatus> {
    return this.#http.json("desktop.stream", options);
  }

  /** Turn the live view on. */
  startStream(options: NodeOptions = {}): Promise<StreamStatus> {
    return this.#http.json("desktop.start_stream", options);
  }

  /** Turn the live view off. */
  stopStream(options: NodeOptions = {}): Promise<StreamStatus> {
    return this.#http.json("desktop.stop_stream", options);
  }

  /** The address of the live view, a WebSocket that speaks RFB: for a VNC client such as noVNC. It contains the token. */
  get viewUrl(): string {
    return this.#http.socketAddress("/v1/desktop/stream/rfb");
  }

  #act<Answer>(operation: Operation, body: object, options: NodeOptions): Promise<Answer> {
    return this.#http.json(operation, { body, ...options });
  }
}
