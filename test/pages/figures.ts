/** A page taken apart: each figure with the SQL beside it. */

export interface Statement {
  readonly whose: 'reader' | 'auditor' | 'job';
  readonly text: string;
}

export interface Figure {
  /** One row of the statement a row of the table. */
  readonly isTable: boolean;
  /** Its figures, exactly; of a table by row. */
  readonly rows: readonly (readonly string[])[];
  readonly statements: readonly Statement[];
}

export function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

export const figuresIn = (html: string): string[] =>
  [...html.matchAll(/<data [^>]*value="([^"]*)"/g)].map(([, value = '']) => plain(value));

const whole =
  /<div class="figure"( data-rows="each")?>([\s\S]*?)<details class="sql">([\s\S]*?)<\/details><\/div>/g;

export function figuresOf(html: string): Figure[] {
  return [...html.matchAll(whole)].map(([, each, body = '', sql = '']) => {
    const lines = each ? (body.split('<tbody>')[1] ?? '').match(/<tr>[\s\S]*?<\/tr>/g) : [body];
    return {
      isTable: each !== undefined,
      rows: (lines ?? []).map(figuresIn),
      statements: [...sql.matchAll(/<pre [^>]*data-whose="(\w+)"[^>]*><code>([\s\S]*?)<\/code>/g)].map(
        ([, whose, text = '']) => ({ whose: whose as Statement['whose'], text: plain(text) }),
      ),
    };
  });
}

/** What is left of a page once its figures with their SQL are taken out. */
export const withoutFigures = (html: string) => html.replaceAll(whole, '');

/** Every value in it, as text: members and items too. */
export function valuesIn(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value === 'object') return Object.values(value).flatMap(valuesIn);
  return [String(value)];
}
