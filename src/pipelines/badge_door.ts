/**
 * Badges: how the pipelines of a branch stand, as a picture for pages elsewhere, at
 * `/<namespace>/<project>/badges/<ref>/pipeline.svg` and `coverage.svg`.
 */
import { type Call, endpoint } from '../access/call.ts';
import { may } from '../access/may.ts';
import { notFound } from '../errors.ts';
import { Answer } from '../http/endpoint.ts';
import { boolean, integer, object, oneOf, optional, text } from '../http/schema.ts';
import { type Project, findProject } from '../projects/find.ts';
import { coverageValue, pipelineValue } from './badges.ts';
import { type Badge, badgeSvg } from './badge_svg.ts';

const mark = '/badges/';
const kinds = ['pipeline', 'build', 'coverage'] as const;
const ending = /^(.+)\/(pipeline|build|coverage)\.svg$/;

/**
 * `/group/project/badges/a/branch/pipeline.svg` (or `/group/project/-/badges/...`) becomes the one path that is served;
 * any other path stays as it is.
 */
export const badgePath = (path: string): string => {
  const at = path.indexOf(mark);
  if (at === -1 || !path.endsWith('.svg') || /^\/(?:api\/v4|-)\//.test(path)) return path;
  const project = path.slice(1, at).replace(/\/-$/, '');
  const [, ref, kind] = ending.exec(path.slice(at + mark.length)) ?? [];
  if (ref === undefined || kind === undefined || !project.includes('/')) return path;
  return `/-/badges/${project.replaceAll('/', '%2F')}/${ref.replaceAll('/', '%2F')}/${kind}.svg`;
};

/** No page of ours: nothing in it runs. Nobody keeps it, for it changes with every pipeline. */
const headers = {
  'content-type': 'image/svg+xml',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'private, no-store, no-cache',
  pragma: 'no-cache',
  expires: 'Fri, 01 Jan 1990 00:00:00 GMT',
};

/** What is hidden, or whose pipelines are not for this one, is missing. */
const findShown = async (call: Call, path: string): Promise<Project> => {
  const project = await findProject(call, path);
  if (!may(call.viewer, 'read_pipeline', project)) throw notFound('Project');
  return project;
};

const longestKey = 64;
const widest = 512;

const badge = (kind: (typeof kinds)[number]) =>
  endpoint({
    method: 'GET',
    path: `/-/badges/:project/:ref/${kind}.svg`,
    summary:
      kind === 'coverage' ? 'How much of a branch is covered' : 'How the last pipeline of a branch went',
    area: 'badges',
    audience: 'optional',
    params: object({
      project: text({ maxLength: 1_000 }),
      ref: text({ maxLength: 1_000 }),
      job: optional(text({ description: 'of which the coverage is' })),
      ignore_skipped: optional(boolean()),
      key_text: optional(text({ maxLength: longestKey, description: 'the words of the first field' })),
      key_width: optional(integer({ minimum: 1, maximum: widest })),
      style: optional(oneOf(['flat', 'flat-square'])),
    }),
    reply: null,
    content: '*/*',
    handle: async (call, { project: path, ref, key_text, key_width, style, ...given }) => {
      const project = await findShown(call, path);
      const value =
        kind === 'coverage'
          ? await coverageValue(call.db, { project_id: project.id, ref }, given.job)
          : await pipelineValue(call.db, { project_id: project.id, ref }, given.ignore_skipped === true);
      const shown: Badge = {
        key: key_text ?? (kind === 'coverage' ? 'coverage' : 'pipeline'),
        ...value,
        keyWidth: key_width,
        isSquare: style === 'flat-square',
      };
      return new Answer(badgeSvg(shown), { headers });
    },
  });

export const badgeDoors = kinds.map(badge);
