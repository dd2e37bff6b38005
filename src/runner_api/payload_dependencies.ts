/** The jobs whose artifacts a job gets, as its runner is told of them. */
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import { isKept } from '../jobs/kept_artifacts.ts';
import type { Dependency } from '../pipelines/dependencies.ts';

/** Their archives, where they are still there; all of them at once, for each job that is given away asks it. */
const archives = compiled((db, given: { ids: number[]; now: number }, words) =>
  db
    .selectFrom('jobs')
    .leftJoin('artifacts', (join) =>
      join
        .onRef('artifacts.job_id', '=', 'jobs.id')
        .on('artifacts.file_type', '=', 'archive')
        .on(isKept(given.now)),
    )
    .select(['jobs.id', 'jobs.erased_at', 'jobs.artifacts_expire_at'])
    .select(['artifacts.filename', 'artifacts.size'])
    .where(words.oneOf('jobs.id', given.ids))
    .compile(),
);

type Archive = Awaited<ReturnType<typeof archives>>[number];

export type Depended = Dependency & { archive: { filename: string; size: number } | null; isGone: boolean };

/** What was there, and is there no more: whoever was to get it has not what it needs. */
const isGone = ({ erased_at, artifacts_expire_at }: Archive, now: number): boolean =>
  erased_at !== null || (artifacts_expire_at !== null && artifacts_expire_at <= now);

/** In their order. */
export const withArchives = async (
  db: Reader,
  dependencies: readonly Dependency[],
  now: number,
): Promise<Depended[]> => {
  if (dependencies.length === 0) return [];
  const rows = await archives(db, { ids: dependencies.map(({ id }) => id), now });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return dependencies.map((dependency) => {
    const row = byId.get(dependency.id);
    if (row === undefined) return { ...dependency, archive: null, isGone: true };
    const { filename, size } = row;
    if (filename === null || size === null) {
      return { ...dependency, archive: null, isGone: isGone(row, now) };
    }
    return { ...dependency, archive: { filename, size }, isGone: false };
  });
};

/** Those that left one, with the token by which the runner gets it. */
export const payloadDependencies = (all: readonly Depended[], token: string): object[] =>
  all.flatMap(({ id, name, archive }) =>
    archive === null ? [] : [{ id, name, token, artifacts_file: archive }],
  );
