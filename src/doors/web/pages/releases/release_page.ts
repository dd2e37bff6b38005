/** The page of a release: notes, assets, milestones. */
import { type Code, findCode } from '../../../../code/repository/find_code.ts';
import { findRelease, latestRelease } from '../../../../code/releases/find_releases.ts';
import { type ReleaseRow, releasesJson } from '../../../../code/releases/json.ts';
import { notFound } from '../../../../platform/errors.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page } from '../../page.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { markdown } from '../../parts/markdown.ts';
import { projectLinkPreview } from '../../parts/projects/project_link_preview.ts';
import { editButton, releaseBadges, releaseContent, releaseFacts } from './release_card.ts';
import { releasesFeedLink } from './feed.ts';
import { releaseParams, releasesRoutePath } from './paths.ts';

const isNewest = async ({ call }: Visit, { id, project_id, released_at }: ReleaseRow): Promise<boolean> =>
  released_at <= call.now && (await latestRelease(call.db, project_id, call.now)).id === id;

const oneView = async (visit: Visit, code: Code, row: ReleaseRow): Promise<View> => {
  const { call } = visit;
  const { project } = code;
  const text = row.description ?? '';
  const [[release], notes, isLatest] = await Promise.all([
    releasesJson(call, code, [row]),
    text === '' ? null : markdown(call, text, { project, ref: row.tag }),
    isNewest(visit, row),
  ]);
  if (release === undefined) throw notFound();
  const { name, tag_name } = release;
  return projectView(
    visit,
    {
      project,
      title: name,
      noun: 'releases',
      hasHeading: true,
      view: {
        feeds: [releasesFeedLink(project)],
        ...projectLinkPreview(visit, project, {
          action: 'read_release',
          text: text === '' ? `Release ${tag_name}` : text,
        }),
      },
    },
    html`<div class="row between"><h1>${name}${releaseBadges(release, isLatest)}</h1>${editButton(visit, project, tag_name)}</div>
${releaseFacts(project, release)}
<section class="card release" aria-label="Release">${releaseContent(visit, { project, release, notes })}</section>`,
  );
};

export const onePage = page({
  method: 'GET',
  path: `${releasesRoutePath}/:tag`,
  audience: 'visitor',
  params: object(releaseParams),
  handle: async (visit, { project, tag }) => {
    const code = await findCode(visit.call, project, 'read_release');
    return await oneView(visit, code, await findRelease(visit.call.db, code.project.id, tag));
  },
});
