/** Looks for parts of one kind in the content of an item. */
import type { ContentPart } from "./events.js";

type PartOf<Type extends ContentPart["type"]> = Extract<ContentPart, { type: Type }>;

export function partsOf<Type extends ContentPart["type"]>(parts: readonly ContentPart[], type: Type): PartOf<Type>[] {
  return parts.filter((part): part is PartOf<Type> => part.type === type);
}

export function partOf<Type extends ContentPart["type"]>(
  parts: readonly ContentPart[],
  type: Type,
): PartOf<Type> | undefined {
  return partsOf(parts, type)[0];
}

export function textOf(parts: readonly ContentPart[]): string {
  return partsOf(parts, "text")
    .map((part) => part.text)
    .join("");
}

export function jsonOf(parts: readonly ContentPart[]): unknown {
  return partOf(parts, "json")?.json ?? null;
}
