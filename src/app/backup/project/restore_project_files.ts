/** Copies the repository, the uploads, artifacts and job logs of a project from a backup to their new places. */
import { artifactArea } from '../../../ci/artifacts/rules.ts';
import { getProjectArea } from '../../../platform/blob/blob_files.ts';
import type { AppendFiles } from '../../../platform/blob/append_files.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { readContents } from '../contents.ts';
import type { BlobLine, LogLine, Manifest, RepositoryLine } from '../manifest.ts';
import { openObject, readObject } from '../places/backup_place.ts';
import { formatRefs, parseRefs } from '../refs_at_point.ts';
import { type Restoring, writeRepository } from '../restore_files.ts';
import type { RestoredProject } from './column_rules.ts';

export type RestoringFiles = Omit<Restoring, 'data'> & {
  manifest: Manifest;
  traces: AppendFiles;
  project: RestoredProject;
  location: RepositoryLocation;
  /** Names of the logs in the data folder of the backup, by old id of the job. */
  traceKeys: ReadonlyMap<number, string | null>;
  /** Area of the avatar in the backup and in the running instance; null: none. */
  avatar: { from: string; to: string } | null;
};

/** The pipelines have other ids now, and none of them runs. */
const withoutPipelines = (text: string): string =>
  formatRefs(new Map([...parseRefs(text)].filter(([name]) => !name.startsWith('refs/pipelines/'))));

const restoreRepository = async (
  { place, git, location }: RestoringFiles,
  line: RepositoryLine,
): Promise<void> => {
  const refs = withoutPipelines((await readObject(place, line.refs.sha256)).toString());
  const repository = git.repository({ ...location, repository_written: 0 });
  await writeRepository(place, repository, { packs: line.packs, refs: Buffer.from(refs) });
};

const restoreLog = async (
  { place, traces, project, traceKeys }: RestoringFiles,
  oldJobId: number,
  sha256: string,
): Promise<void> => {
  const id = project.ids.get('jobs')?.get(oldJobId);
  if (id === undefined) return;
  const key = { project_id: project.id, id, trace_key: traceKeys.get(oldJobId) ?? null };
  let offset = 0;
  for await (const chunk of (await openObject(place, sha256)) as AsyncIterable<Buffer>) {
    await traces.append(key, offset, chunk);
    offset += chunk.length;
  }
  await traces.finish(key);
};

const restoreBlob = async (restoring: RestoringFiles, { area, sha256 }: BlobLine): Promise<void> => {
  const { place, blobs, project, avatar } = restoring;
  const { oldId, id } = project;
  const log = new RegExp(`^${getProjectArea(oldId)}/traces/(\\d+)$`).exec(area);
  if (log !== null) return await restoreLog(restoring, Number(log[1]), sha256);
  const areas = new Map([
    [getProjectArea(oldId), getProjectArea(id)],
    [artifactArea(oldId), artifactArea(id)],
    ...(avatar === null ? [] : [[avatar.from, avatar.to] as const]),
  ]);
  const to = areas.get(area);
  if (to !== undefined) await blobs.put(to, await openObject(place, sha256));
};

const restoreLogFile = async (restoring: RestoringFiles, { path, sha256 }: LogLine): Promise<void> => {
  const [folder, name = ''] = path.split('/');
  if (folder === String(restoring.project.oldId)) await restoreLog(restoring, Number.parseInt(name), sha256);
};

/** Restores the files of one project, and calls back after each. */
export const restoreProjectFiles = async (restoring: RestoringFiles, advance: () => void): Promise<void> => {
  const { place, manifest, project } = restoring;
  for await (const line of readContents(place, manifest)) {
    if (line.kind === 'blob') await restoreBlob(restoring, line);
    else if (line.kind === 'log') await restoreLogFile(restoring, line);
    else if (line.project_id === project.oldId) await restoreRepository(restoring, line);
    advance();
  }
};
