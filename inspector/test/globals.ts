/** The little of a browser that modules touch when they are loaded. Behaviour is tested in a real one: tests/inspector. */
const storage = () => {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
};

Object.assign(globalThis, {
  localStorage: storage(),
  sessionStorage: storage(),
  document: { hidden: false },
  requestAnimationFrame: (draw: () => void) => setTimeout(draw),
  window: {
    setInterval: () => 0,
    addEventListener: () => undefined,
    location: { hash: "", origin: "http://127.0.0.1:2468", pathname: "/ui/" },
  },
});
