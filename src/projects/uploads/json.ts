import { int, object, string } from '../../platform/http/schema.ts';
import { getImageType } from './rules.ts';

export const uploadShape = object({
  id: int,
  alt: string,
  url: string,
  full_path: string,
  markdown: string,
});

export type UploadRow = { id: number; project_id: number; secret: string; file_name: string; size: number };

/** Renders an upload. The Markdown link is relative to the project; `full_path` to the service. */
export const uploadJson = ({ id, project_id, secret, file_name, size }: UploadRow) => {
  const isPicture = getImageType(file_name, size) !== null;
  const alt = isPicture ? file_name.slice(0, file_name.lastIndexOf('.')) : file_name;
  const url = `/uploads/${secret}/${file_name}`;
  const markdown = `${isPicture ? '!' : ''}[${alt}](${url})`;
  return { id, alt, url, full_path: `/-/project/${project_id}${url}`, markdown };
};
