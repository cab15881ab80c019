/** Images of a session. They need the token, so they are fetched and shown as object URLs. */
import { useEffect, useState } from "react";
import type { Image } from "sandbox-agentd";
import { sayWhy } from "../state/words.js";
import { lastPart } from "../parts/format.js";
import { useConversation } from "../session/sessionContext.js";

export function Images({ images }: { images: readonly Image[] }) {
  if (images.length === 0) return null;
  return (
    <div className="sa-images">
      {images.map((image) => (
        <Picture key={image.path} path={image.path} />
      ))}
    </div>
  );
}

function Picture({ path }: { path: string }) {
  const { client, sessionId } = useConversation();
  const [url, setUrl] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let made: string | null = null;
    let current = true;
    client
      .getAttachment(sessionId, lastPart(path))
      .then((blob) => {
        if (!current) return;
        made = URL.createObjectURL(blob);
        setUrl(made);
      })
      .catch((error: unknown) => current && setFailure(sayWhy(error)));
    return () => {
      current = false;
      if (made) URL.revokeObjectURL(made);
    };
  }, [client, sessionId, path]);
  if (failure) return <span className="sa-image-gone" title={failure}>{lastPart(path)}: not stored here</span>;
  return url ? <img src={url} alt={lastPart(path)} /> : <span className="sa-image-coming" />;
}
