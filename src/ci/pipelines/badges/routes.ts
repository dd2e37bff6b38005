/**
 * Endpoints of badges: pipeline status and coverage of a branch as SVG, at
 * `/<namespace>/<project>/badges/<ref>/pipeline.svg` and `coverage.svg`.
 */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { may } from '../../../core/access/may.ts';
import { notFound } from '../../../platform/errors.ts';
import { Answer } from '../../../platform/http/endpoint.ts';
import { boolean, integer, object, oneOf, optional, text } from '../../../platform/http/schema.ts';
import { type Project, findProject } from '../../../projects/projects/find.ts';
import { loadCoverageBadge, loadPipelineBadge } from './badges.ts';
import { type Badge, badgeSvg } from './svg.ts';

const mark = '/badges/';
const kinds = ['pipeline', 'build', 'coverage'] as const;
const ending = /^(.+)\/(pipeline|build|coverage)\.svg$/;

/**
 * Rewrites `/group/project/badges/a/branch/pipeline.svg` (or `/group/project/-/badges/...`) to the path of the endpoint.
 * Returns any other path unchanged.
 */
export const rewriteBadgePath = (path: string): string => {
  const at = path.indexOf(mark);
  if (at === -1 || !path.endsWith('.svg') || /^\/(?:api\/v4|-)\//.test(path)) return path;
  const project = path.slice(1, at).replace(/\/-$/, '');
  const [, ref, kind] = ending.exec(path.slice(at + mark.length)) ?? [];
  if (ref === undefined || kind === undefined || !project.includes('/')) return path;
  return `/-/badges/${project.replaceAll('/', '%2F')}/${ref.replaceAll('/', '%2F')}/${kind}.svg`;
};

/** The policy keeps scripts in the SVG from running. Not cached, because it changes with every pipeline. */
const headers = {
  'content-type': 'image/svg+xml',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'private, no-store, no-cache',
  pragma: 'no-cache',
  expires: 'Fri, 01 Jan 1990 00:00:00 GMT',
};

/** Finds the project. Answers 404 if it or its pipelines are hidden from the caller. */
const findVisibleProject = async (call: Call, path: string): Promise<Project> => {
  const project = await findProject(call, path);
  if (!may(call.viewer, 'read_pipeline', project)) throw notFound('Project');
  return project;
};

const maxKeyLength = 64;
const maxKeyWidth = 512;

const badge = (kind: (typeof kinds)[number]) =>
  endpoint({
    method: 'GET',
    path: `/-/badges/:project/:ref/${kind}.svg`,
    summary: kind === 'coverage' ? 'Test coverage badge of a branch' : 'Pipeline status badge of a branch',
    area: 'badges',
    audience: 'optional',
    params: object({
      project: text({ maxLength: 1_000 }),
      ref: text({ maxLength: 1_000 }),
      job: optional(text({ description: 'job whose coverage is shown' })),
      ignore_skipped: optional(boolean()),
      key_text: optional(text({ maxLength: maxKeyLength, description: 'text of the left field' })),
      key_width: optional(integer({ minimum: 1, maximum: maxKeyWidth })),
      style: optional(oneOf(['flat', 'flat-square'])),
    }),
    reply: null,
    content: '*/*',
    handle: async (call, { project: path, ref, key_text, key_width, style, ...query }) => {
      const project = await findVisibleProject(call, path);
      const value =
        kind === 'coverage'
          ? await loadCoverageBadge(call.db, { project_id: project.id, ref }, query.job)
          : await loadPipelineBadge(call.db, { project_id: project.id, ref }, query.ignore_skipped === true);
      const badgeContent: Badge = {
        key: key_text ?? (kind === 'coverage' ? 'coverage' : 'pipeline'),
        ...value,
        keyWidth: key_width,
        isSquare: style === 'flat-square',
      };
      return new Answer(badgeSvg(badgeContent), { headers });
    },
  });

export const badgeRoutes = kinds.map(badge);
