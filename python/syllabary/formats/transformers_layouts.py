"""How a class of `transformers` numbers the pieces of a sentencepiece model, and what it puts around a text.

Adds the table: what stands before the pieces and after them, templates, and what is done to text first.
Source: transformers 5.23, `convert_slow_tokenizer.py` and the classes; the order of languages is that of the
published models. Leaves out: roles and sides (`transformers_classes`); moving ids (`compat.transformers`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Layout:
    """first: special tokens with the lowest ids, in the place of the model's first `instead` pieces. last:
    those after all pieces; roles that have no token yet come behind them. Each is a role without `_token`, or
    a text; one that begins with `=` is a piece that no text becomes.

    single, pair: what is around a text, A, and two, A and B: roles, each with `:` and its type id if that is
    not 0; nothing: a language, or as `add_bos_token` and `add_eos_token` say. quotes: quotation marks of TeX
    become `"`, and accents go but with `keep_accents`. lowers: whether text becomes lowercase where
    `do_lower_case` is silent; `None`: it is not asked. spaces: whether the offsets of a word hold the space
    before it; `None`: text is not cut into words.
    """

    first: tuple[str, ...] = ()
    instead: int = 0
    last: tuple[str, ...] = ()
    single: str = ""
    pair: str = ""
    quotes: bool = False
    lowers: bool | None = None
    spaces: bool | None = False


MBART = """
    ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM
    ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN
""".split()
MBART50 = """
    af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE
    sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI
""".split()
NLLB = """
    ace_Arab ace_Latn acm_Arab acq_Arab aeb_Arab afr_Latn ajp_Arab aka_Latn amh_Ethi apc_Arab arb_Arab
    ars_Arab ary_Arab arz_Arab asm_Beng ast_Latn awa_Deva ayr_Latn azb_Arab azj_Latn bak_Cyrl bam_Latn
    ban_Latn bel_Cyrl bem_Latn ben_Beng bho_Deva bjn_Arab bjn_Latn bod_Tibt bos_Latn bug_Latn bul_Cyrl
    cat_Latn ceb_Latn ces_Latn cjk_Latn ckb_Arab crh_Latn cym_Latn dan_Latn deu_Latn dik_Latn dyu_Latn
    dzo_Tibt ell_Grek eng_Latn epo_Latn est_Latn eus_Latn ewe_Latn fao_Latn pes_Arab fij_Latn fin_Latn
    fon_Latn fra_Latn fur_Latn fuv_Latn gla_Latn gle_Latn glg_Latn grn_Latn guj_Gujr hat_Latn hau_Latn
    heb_Hebr hin_Deva hne_Deva hrv_Latn hun_Latn hye_Armn ibo_Latn ilo_Latn ind_Latn isl_Latn ita_Latn
    jav_Latn jpn_Jpan kab_Latn kac_Latn kam_Latn kan_Knda kas_Arab kas_Deva kat_Geor knc_Arab knc_Latn
    kaz_Cyrl kbp_Latn kea_Latn khm_Khmr kik_Latn kin_Latn kir_Cyrl kmb_Latn kon_Latn kor_Hang kmr_Latn
    lao_Laoo lvs_Latn lij_Latn lim_Latn lin_Latn lit_Latn lmo_Latn ltg_Latn ltz_Latn lua_Latn lug_Latn
    luo_Latn lus_Latn mag_Deva mai_Deva mal_Mlym mar_Deva min_Latn mkd_Cyrl plt_Latn mlt_Latn mni_Beng
    khk_Cyrl mos_Latn mri_Latn zsm_Latn mya_Mymr nld_Latn nno_Latn nob_Latn npi_Deva nso_Latn nus_Latn
    nya_Latn oci_Latn gaz_Latn ory_Orya pag_Latn pan_Guru pap_Latn pol_Latn por_Latn prs_Arab pbt_Arab
    quy_Latn ron_Latn run_Latn rus_Cyrl sag_Latn san_Deva sat_Beng scn_Latn shn_Mymr sin_Sinh slk_Latn
    slv_Latn smo_Latn sna_Latn snd_Arab som_Latn sot_Latn spa_Latn als_Latn srd_Latn srp_Cyrl ssw_Latn
    sun_Latn swe_Latn swh_Latn szl_Latn tam_Taml tat_Cyrl tel_Telu tgk_Cyrl tgl_Latn tha_Thai tir_Ethi
    taq_Latn taq_Tfng tpi_Latn tsn_Latn tso_Latn tuk_Latn tum_Latn tur_Latn twi_Latn tzm_Tfng uig_Arab
    ukr_Cyrl umb_Latn urd_Arab uzn_Latn vec_Latn vie_Latn war_Latn wol_Latn xho_Latn ydd_Hebr yor_Latn
    yue_Hant zho_Hans zho_Hant zul_Latn
""".split()

FAIRSEQ = Layout(("bos", "pad", "eos", "unk"), 3)
XLMR = replace(FAIRSEQ, last=("mask",), single="bos A eos", pair="bos A eos eos B eos")
MARKED = Layout(single="cls A sep", pair="cls A sep B:1 sep:1")
ALBERT = replace(MARKED, quotes=True, lowers=True)

LAYOUTS: Mapping[str, Layout] = {
    "AlbertTokenizer": ALBERT,
    "BarthezTokenizer": Layout(single=XLMR.single, pair=XLMR.pair, spaces=True),
    "BigBirdTokenizer": replace(MARKED, spaces=True),
    "CamembertTokenizer": replace(
        XLMR, first=("=<s>NOTUSED", "pad", "=</s>NOTUSED", "unk", "=<unk>NOTUSED"), instead=1
    ),
    "DebertaV2Tokenizer": replace(MARKED, last=("mask",), lowers=False, spaces=True),
    "GemmaTokenizer": Layout(spaces=None),
    "MBart50Tokenizer": replace(
        FAIRSEQ, first=("cls", "pad", "eos", "unk"), last=(*MBART, *MBART50, "mask"), spaces=True
    ),
    "MBartTokenizer": replace(FAIRSEQ, last=(*MBART, "mask")),
    "NllbTokenizer": replace(FAIRSEQ, last=(*NLLB, "mask"), spaces=True),
    "PegasusTokenizer": Layout(
        ("pad", "eos", "<mask_1>", "mask", *(f"<unk_{number}>" for number in range(2, 103))),
        2,
        single="A eos",
        pair="A B eos",
        spaces=True,
    ),
    "T5Tokenizer": Layout(single="A eos", pair="A eos B eos"),
    "XLMRobertaTokenizer": XLMR,
    "XLNetTokenizer": Layout(single="A sep cls:2", pair="A sep B:1 sep:1 cls:2", quotes=True, lowers=False),
}
