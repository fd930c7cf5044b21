package antipode

import (
	"slices"
	"strings"
)

// countries lists the ISO 3166-1 alpha-2 codes of a continent.
func countries(continent string) []string { return strings.Fields(countriesOf(continent)) }

// countriesOf holds the ISO 3166-1 alpha-2 codes of each continent, after the
// United Nations' M49 regions (all but Antarctica), with Northern and Central America and the
// Caribbean as north-america.
func countriesOf(continent string) string {
	switch continent {
	case "africa":
		return "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW IO KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TF TG TN TZ UG YT ZA ZM ZW"
	case "asia":
		return "AE AF AM AZ BD BH BN BT CN CY GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE"
	case "europe":
		return "AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA"
	case "north-america":
		return "AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC TT US VC VG VI"
	case "south-america":
		return "AR BO BR BV CL CO EC FK GF GS GY PE PY SR UY VE"
	case "oceania":
		return "AS AU CC CK CX FJ FM GU HM KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS"
	}
	return ""
}

// Continents returns the names Continent can give.
func Continents() []string {
	return []string{"africa", "asia", "europe", "north-america", "south-america", "oceania"}
}

// Continent is the continent of the region's country, one of Continents, or
// empty for an unknown country.
func (r Region) Continent() string {
	for _, continent := range Continents() {
		if slices.Contains(countries(continent), r.Country) {
			return continent
		}
	}
	return ""
}
