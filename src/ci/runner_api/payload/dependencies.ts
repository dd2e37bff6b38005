/** The `dependencies` of a payload: jobs whose artifacts the runner downloads. */
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { isAvailableArtifact } from '../../jobs/artifact_availability.ts';
import type { Dependency } from '../../pipelines/predefined_variables/dependencies.ts';

/** Loads the archives that still exist, with one query, since each job handed out needs it. */
const archives = compiled((db, input: { ids: number[]; now: number }, dialect) =>
  db
    .selectFrom('jobs')
    .leftJoin('artifacts', (join) =>
      join
        .onRef('artifacts.job_id', '=', 'jobs.id')
        .on('artifacts.file_type', '=', 'archive')
        .on(isAvailableArtifact(input.now)),
    )
    .select(['jobs.id', 'jobs.erased_at', 'jobs.artifacts_expire_at'])
    .select(['artifacts.filename', 'artifacts.size'])
    .where(dialect.oneOf('jobs.id', input.ids))
    .compile(),
);

type Archive = Awaited<ReturnType<typeof archives>>[number];

export type JobDependency = Dependency & {
  archive: { filename: string; size: number } | null;
  isGone: boolean;
};

/** Returns whether an archive existed and was removed or expired: a dependent job then lacks what it needs. */
const isGone = ({ erased_at, artifacts_expire_at }: Archive, now: number): boolean =>
  erased_at !== null || (artifacts_expire_at !== null && artifacts_expire_at <= now);

/** Loads the jobs with their archives, in the given order. */
export const loadWithArchives = async (
  db: Reader,
  dependencies: readonly Dependency[],
  now: number,
): Promise<JobDependency[]> => {
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

/** Lists the jobs that have an archive, with the token that downloads it. */
export const toPayloadDependencies = (dependencies: readonly JobDependency[], token: string): object[] =>
  dependencies.flatMap(({ id, name, archive }) =>
    archive === null ? [] : [{ id, name, token, artifacts_file: archive }],
  );
