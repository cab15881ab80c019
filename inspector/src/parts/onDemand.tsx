/**
 * Parts of the page that are loaded when they are first needed. If the daemon does not answer, or is of another version
 * and no longer has the file, the rest of the page stays; the part is there after a reload.
 */
import { type ComponentType, lazy, Suspense } from "react";
import { Button } from "chat/parts/button";
import { Notice } from "chat/parts/notice";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";
import { Dialog } from "./dialog";

const NOT_LOADED = "This part of the page could not be loaded. Reload the page when the daemon answers.";

type Load<P> = () => Promise<{ default: ComponentType<P> }>;

/** A component of a module of its own. */
export function onDemand<P extends object>(load: Load<P>): ComponentType<P> {
  return orElse(load, NotLoaded);
}

/** The same for what is shown above the page until it is closed. */
export function dialogOnDemand<P extends { onClose: () => void }>(load: Load<P>): ComponentType<P> {
  return orElse(load, ({ onClose }) => (
    <Dialog title="Not loaded" onClose={onClose}>
      <NotLoaded />
    </Dialog>
  ));
}

function orElse<P extends object>(load: Load<P>, Instead: ComponentType<P>): ComponentType<P> {
  const Part = lazy<ComponentType<P>>(() => load().catch(() => ({ default: Instead })));
  return function OnDemand(props: P) {
    return (
      <Suspense>
        <Part {...props} />
      </Suspense>
    );
  };
}

function NotLoaded() {
  const { state } = useObserved(useWorkspace().connection);
  return (
    <div className="notLoaded">
      <Notice>{NOT_LOADED}</Notice>
      <Button disabled={state !== "live"} onClick={() => window.location.reload()}>
        Reload
      </Button>
    </div>
  );
}

/** Modules without components. The error says what to do. */
export async function loaded<T>(module: Promise<T>): Promise<T> {
  try {
    return await module;
  } catch {
    throw new Error(NOT_LOADED);
  }
}
