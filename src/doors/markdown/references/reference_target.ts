import type { Reference } from '../convert/options.ts';
import type { Project } from '../../../projects/projects/find.ts';

/** Target of a reference. Loaded only if the viewer may see it. */
export type Target = {
  /** Path of its page, from the root of the instance. */
  path: string;
  title: string;
  /** Shown instead of the text as written; null: the text. */
  label: string | null;
  color?: string;
};

/** A reference with the project that it means, which the viewer sees. */
export type LocatedReference = { reference: Reference; project: Project };

/** Targets by reference. */
export type Targets = Map<Reference, Target>;

/** Returns the distinct values of a list. */
export const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** Groups references by their project. */
export const groupByProject = (placed: readonly LocatedReference[]): [Project, Reference[]][] =>
  [...Map.groupBy(placed, ({ project }) => project)].map(([project, some]) => [
    project,
    some.map(({ reference }) => reference),
  ]);
