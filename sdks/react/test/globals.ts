/** The little of a browser that is needed without one. Behaviour is tested in a real one: tests/react and tests/inspector. */
const storage = () => {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
};

Object.assign(globalThis, {
  sessionStorage: storage(),
  document: { hidden: false },
  requestAnimationFrame: (draw: () => void) => setTimeout(draw),
});
