/** A small chart: a bar or two for every day. The title of a bar says its value, and a text describes the whole chart. */

type Series = { name: string; colour: "blue" | "red" | "amber" | "accent"; values: readonly (number | null)[] };
type Charted = { title: string; days: readonly string[]; series: readonly Series[]; format: (value: number) => string };

const WIDTH = 320;
const HEIGHT = 96;
const GAP = 2;

/** The bars of a day stand in front of each other: the larger ones come first. */
export function Chart({ title, days, series, format }: Charted) {
  const most = Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)), 0);
  const step = WIDTH / Math.max(1, days.length);
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="faint">at most {format(most)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={inWords(title, days, series, format)}>
        {days.map((day, place) =>
          series.map(({ name, colour, values }) => {
            const value = values[place] ?? 0;
            const height = most ? (value / most) * (HEIGHT - 4) : 0;
            return (
              <rect
                key={`${day} ${name}`}
                data-colour={colour}
                x={place * step + GAP / 2}
                y={HEIGHT - height}
                width={Math.max(1, step - GAP)}
                height={height}
              >
                <title>{`${day}: ${name} ${format(value)}`}</title>
              </rect>
            );
          }),
        )}
        <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      </svg>
      <p class="axis faint">
        <span>{days[0]}</span>
        <span>{days.at(-1)}</span>
      </p>
    </figure>
  );
}

/** The days on which there was something, for people who do not see the bars. */
function inWords(title: string, days: readonly string[], series: readonly Series[], format: Charted["format"]): string {
  const told = days.flatMap((day, place) => {
    const values = series.flatMap(({ name, values }) => (values[place] ? [`${name} ${format(values[place])}`] : []));
    return values.length ? [`${day}: ${values.join(", ")}`] : [];
  });
  return `${title}. ${told.join(". ") || "Nothing on these days"}.`;
}
