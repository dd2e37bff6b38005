/** Sets up measurements of pages: files of a project, and a signed-in browser session. */
import { rootPassword } from '../service.ts';
import { api, base } from './root_api.ts';

/** Commits new files. */
export const writeFiles = async (
  port: number,
  project: string,
  message: string,
  files: Record<string, string>,
): Promise<void> => {
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action: 'create',
    file_path,
    content,
  }));
  const path = `/projects/${encodeURIComponent(project)}/repository/commits`;
  await api(port, `POST ${path}`, { branch: 'main', commit_message: message, actions });
};

const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');

/** Signs in as root; returns the cookie. */
export const signIn = async (port: number): Promise<string> => {
  const url = `${base(port)}/users/sign_in`;
  const shown = await fetch(url);
  const token = /name="authenticity_token" value="([^"]+)"/.exec(await shown.text())?.[1] ?? '';
  const body = new URLSearchParams({ authenticity_token: token, login: 'root', password: rootPassword });
  const headers = { cookie: cookiesOf(shown), origin: base(port) };
  const answer = await fetch(url, { method: 'POST', redirect: 'manual', headers, body });
  if (answer.status !== 303) throw new Error(`signing in answered ${answer.status}`);
  return cookiesOf(answer);
};
