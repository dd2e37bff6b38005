/** Requests for the rows of expected.txt about traces and artifacts. */
import { Readable } from 'node:stream';
import { artifactArea } from '../../../../src/ci/artifacts/rules.ts';
import { buildZip } from '../../../support/ci/artifacts.ts';
import { freshJob } from '../../makers/ci_makers.ts';
import type { Maker } from '../../makers/makers.ts';
import type { Recipe } from '../recipes.ts';
import { insertAll } from '../../makers/bulk_rows.ts';

const job = '/projects/:id/jobs/:job_id';
const ofRef = '/projects/:id/jobs/artifacts/:ref_name';
const held = '{of a protected branch}';

const hour = 3_600_000;

/**
 * An archive of the job with a creation time in the future, so that requests that delete all present artifacts spare
 * it.
 */
const archived: Maker = async (tx, cells, { gantry }) => {
  const { blobs } = gantry.service.platform;
  const projects = [...new Set(cells.map(({ names }) => Number(names['project'])))];
  const archive = await buildZip({ 'a.txt': 'a' });
  const puts = projects.map(async (id) => await blobs.put(artifactArea(id), Readable.from([archive])));
  const sha256 = (await Promise.all(puts))[0]?.sha256 ?? '';
  const rows = cells.map(({ names }) => ({
    project_id: Number(names['project']),
    job_id: Number(names['job_id']),
    file_type: 'archive',
    file_format: 'zip' as const,
    filename: 'artifacts.zip',
    size: archive.length,
    sha256,
    expire_at: null,
    created_at: tx.now + hour,
  }));
  await insertAll(tx, 'artifacts', rows);
};

const printed: Maker = async (_tx, cells, { gantry }) => {
  const { traces } = gantry.service.platform;
  const jobs = cells.map(({ names }) => ({
    project_id: Number(names['project']),
    id: Number(names['job_id']),
    trace_key: null,
  }));
  await Promise.all(jobs.map(async (of) => await traces.append(of, 0, Buffer.from('printed\n'))));
};

const left = (isHeld = false): Recipe => ({
  makes: [freshJob({ status: 'success', held: isHeld }), archived],
});
const inArchive = { ...left(), path: { artifact_path: 'file_in_archive' } };

const fileName: Maker = async (_tx, cells) => {
  for (const { names } of cells) names['file_in_archive'] = 'a.txt';
  await Promise.resolve();
};

const named: Maker = async (_tx, cells) => {
  for (const { names } of cells) names['ref_of_job'] = 'topic';
  await Promise.resolve();
};

const withPath = (recipe: Recipe): Recipe => ({ ...recipe, makes: [...(recipe.makes ?? []), fileName] });
const byRef = (recipe: Recipe): Recipe => ({
  ...recipe,
  makes: [...(recipe.makes ?? []), named],
  path: { ...recipe.path, ref_name: 'ref_of_job' },
  query: 'job=job',
});

export const artifactRecipes: Record<string, Recipe> = {
  [`GET ${job}/artifacts`]: left(),
  [`GET ${job}/artifacts/:artifact_path`]: withPath(inArchive),
  [`GET ${job}/artifacts/keep`]: left(),
  [`GET ${ofRef}/download`]: byRef(left()),
  [`GET ${ofRef}/raw/:artifact_path`]: byRef(withPath(inArchive)),
  [`GET ${job}/trace`]: { makes: [freshJob({ status: 'success' }), printed] },
  [`POST ${job}/erase`]: left(),
  [`POST ${job}/erase ${held}`]: left(true),
  [`POST ${job}/artifacts/keep`]: left(),
  [`POST ${job}/artifacts/keep ${held}`]: left(true),
  [`DELETE ${job}/artifacts`]: left(),
};
