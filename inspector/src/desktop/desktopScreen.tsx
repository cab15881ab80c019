/** The live view, drawn by noVNC. */
import RFB from "@novnc/novnc";
import { useEffect, useRef, useState } from "react";
import { sayWhy } from "chat/state/words";
import { Button } from "chat/parts/button";
import { Notice } from "chat/parts/notice";
import { useWorkspace } from "../state/workspace";

type Link = { state: "connecting" } | { state: "open" } | { state: "lost"; why: string };

export default function DesktopScreen({ viewOnly }: { viewOnly: boolean }) {
  const { daemon } = useWorkspace();
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<RFB | null>(null);
  const [link, setLink] = useState<Link>({ state: "connecting" });
  const [tries, setTries] = useState(0);
  const isViewOnly = useRef(viewOnly);
  isViewOnly.current = viewOnly;

  useEffect(() => {
    if (view.current) view.current.viewOnly = viewOnly;
  }, [viewOnly]);

  useEffect(() => {
    let left = false;
    const open = async () => {
      setLink({ state: "connecting" });
      try {
        await daemon.client.desktop.startStream();
      } catch (error) {
        if (!left) setLink({ state: "lost", why: sayWhy(error) });
        return;
      }
      if (left || !box.current) return;
      const opened = new RFB(box.current, daemon.socket(daemon.client.desktop.viewUrl), { shared: true });
      opened.scaleViewport = true;
      opened.background = "transparent";
      opened.viewOnly = isViewOnly.current;
      opened.addEventListener("connect", () => !left && setLink({ state: "open" }));
      opened.addEventListener("disconnect", () => {
        view.current = null;
        if (!left) setLink({ state: "lost", why: "The connection to the desktop was lost." });
      });
      view.current = opened;
    };
    void open();
    return () => {
      left = true;
      view.current?.disconnect();
      view.current = null;
    };
  }, [daemon, tries]);

  return (
    <div className="desktopScreen" data-state={link.state}>
      <div className="desktopBox" ref={box} role="application" aria-label="Live view of the desktop" />
      {link.state === "lost" && (
        <div className="tabNotice">
          <Notice tone="calm">{link.why}</Notice>
          <Button small icon="refresh" onClick={() => setTries(tries + 1)}>
            Connect again
          </Button>
        </div>
      )}
    </div>
  );
}
