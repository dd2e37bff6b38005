/** The message of a commit that applies suggestions. */

type About = {
  suggestions: number;
  /** Paths of the changed files. */
  files: readonly string[];
  branch: string;
  project: { name: string; full_path: string };
  user: { name: string; username: string };
};

const defaultMessage = 'Apply %{suggestions_count} suggestion(s) to %{files_count} file(s)';

/** Replaces the placeholders of a message, or of the default message; unknown placeholders are kept. */
export const formatMessage = (
  message: string | null,
  { suggestions, files, branch, project, user }: About,
): string => {
  const values = new Map([
    ['suggestions_count', String(suggestions)],
    ['files_count', String(files.length)],
    ['file_path', files.join(', ')],
    ['file_paths', files.join(', ')],
    ['branch_name', branch],
    ['project_name', project.name],
    ['project_path', project.full_path],
    ['user_full_name', user.name],
    ['username', user.username],
  ]);
  return (message ?? defaultMessage).replace(
    /%\{(\w+)\}/g,
    (whole, name: string) => values.get(name) ?? whole,
  );
};
