import { formatTime } from '../../platform/time.ts';
import { placeJson, getProjectUrl } from './shared_payload_parts.ts';
import { commitOrNull } from './commits.ts';
import type { Context, Payload } from './context.ts';

const formats = ['zip', 'tar.gz', 'tar.bz2', 'tar'];

const actions: Record<string, string> = { created: 'create', updated: 'update', deleted: 'delete' };

export const releasePayload = async (context: Context): Promise<Payload> => {
  const { project, records, kind } = context.snapshot;
  const { release } = records;
  if (project === null || release === undefined) return {};
  const web = getProjectUrl(context, project);
  const tag = encodeURIComponent(release.tag);
  const links = release.links.map(({ id, name, url, link_type }) => ({ id, link_type, name, url }));
  const sources = formats.map((format) => ({
    format,
    url: `${context.site.baseUrl}/api/v4/projects/${project.id}/repository/archive.${format}?sha=${tag}`,
  }));
  return {
    object_kind: 'release',
    event_type: 'release',
    id: release.id,
    created_at: formatTime(release.created_at),
    description: release.description,
    name: release.name ?? release.tag,
    released_at: formatTime(release.released_at),
    tag: release.tag,
    ...placeJson(context),
    url: `${web}/-/releases/${tag}`,
    action: actions[kind.split('.')[1] ?? ''] ?? 'update',
    assets: { count: links.length + sources.length, links, sources },
    commit: await commitOrNull(context, project, release.sha),
  };
};
