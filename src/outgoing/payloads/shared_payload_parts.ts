/** Parts that payloads share: users, projects, repositories, labels. Pure. */
import { userAvatarUrl, uploadedAvatarUrl } from '../../identity/avatars/avatar_urls.ts';
import { formatTime } from '../../platform/time.ts';
import type { LabelFacts, ProjectFacts, UserFacts } from '../changes/snapshots/snapshot.ts';
import type { Context, Payload } from './context.ts';

export const visibilityLevels = { private: 0, internal: 10, public: 20 } as const;

/** Seconds between two times; null: one of them is missing. */
export const secondsBetween = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : Math.max(0, to - from) / 1_000;

const ghost: UserFacts = {
  id: 0,
  name: 'Ghost user',
  username: 'ghost',
  email: '',
  avatar: null,
  state: 'blocked',
  created_at: 0,
  updated_at: 0,
};

export const findUser = ({ snapshot: { users } }: Context, id: number | null | undefined): UserFacts | null =>
  id === null || id === undefined ? null : (users[String(id)] ?? null);

/** The author of the change; a placeholder if the author is unknown. */
export const getActor = (context: Context, id = context.snapshot.actor_id): UserFacts =>
  findUser(context, id) ?? ghost;

export const userJson = ({ site }: Context, user: UserFacts) => ({
  id: user.id,
  name: user.name,
  username: user.username,
  avatar_url: userAvatarUrl(site, user),
  email: user.email === '' ? '[REDACTED]' : user.email,
});

export const usersJson = (context: Context, ids: readonly number[]) =>
  ids.flatMap((id) => {
    const user = findUser(context, id);
    return user === null ? [] : [userJson(context, user)];
  });

export const getProjectUrl = ({ site }: Context, { full_path }: Pick<ProjectFacts, 'full_path'>): string =>
  `${site.baseUrl}/${full_path}`;

export const projectJson = (context: Context, project: ProjectFacts) => {
  const web_url = getProjectUrl(context, project);
  const http = `${web_url}.git`;
  const ssh = `${context.ssh}${project.full_path}.git`;
  return {
    id: project.id,
    name: project.name,
    description: project.description,
    web_url,
    avatar_url: uploadedAvatarUrl(context.site, 'project', project),
    git_ssh_url: ssh,
    git_http_url: http,
    namespace: project.namespace_name,
    visibility_level: visibilityLevels[project.visibility],
    path_with_namespace: project.full_path,
    default_branch: project.default_branch,
    ci_config_path: project.ci_config_path,
    homepage: web_url,
    url: ssh,
    ssh_url: ssh,
    http_url: http,
  };
};

const repositoryJson = (context: Context, project: ProjectFacts) => {
  const { git_ssh_url, git_http_url, homepage, visibility_level } = projectJson(context, project);
  const { name, description } = project;
  return { name, url: git_ssh_url, description, homepage, git_http_url, git_ssh_url, visibility_level };
};

/** `project` and `repository`. */
export const placeJson = (context: Context): Payload => {
  const { project } = context.snapshot;
  return project === null
    ? {}
    : { project: projectJson(context, project), repository: repositoryJson(context, project) };
};

export const labelJson = (label: LabelFacts) => ({
  id: label.id,
  title: label.title,
  color: label.color,
  project_id: label.project_id,
  created_at: formatTime(label.created_at),
  updated_at: formatTime(label.updated_at),
  template: false,
  description: label.description,
  type: label.project_id === null ? 'GroupLabel' : 'ProjectLabel',
  group_id: label.group_id,
});
